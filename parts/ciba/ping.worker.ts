/**
 * Runs the chart of pings (ping.machine.ts): one instance for each login of a client in
 * ping mode. A process waits for the end of each login that it has taken, while the job sleeps.
 * When the process stops or dies, another one takes over. After a stall the client may be told
 * twice.
 */
import { activity, defineWorkflow } from '../../packages/engine/src/define.ts';
import { createEngine, spreadOver } from '../../packages/engine/src/engine.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../../packages/engine/src/worker.ts';
import { clockOf, type RedisClient } from '../../src/redis/connect.ts';
import { shardPrefix } from '../../src/transactions/contract.ts';
import { closeQueues, openQueue } from '../../src/transactions/shards.ts';
import {
  type PingData,
  type PingInput,
  type PingLogin,
  type PingResult,
  type PingTry,
  pingMachine,
  pingSchema,
  pingVersion,
} from './ping.machine.ts';

/** Undefined, or a rejection: not now; it is tried again, here or in another process. */
interface PingActivities {
  untilSettled(login: PingLogin, stop: AbortSignal): Promise<boolean | undefined>;
  ping(given: PingTry, stop: AbortSignal): Promise<PingResult | undefined>;
}

export interface PingWorkOptions {
  readonly commands: RedisClient;
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly onError: (error: Error) => void;
}

/** Pauses between the tries of a client's endpoint. */
const pausesMs = [1000, 3000];
const concurrency = 50;
const policy = { attempts: Number.POSITIVE_INFINITY, maxBackoffMs: 1000 };

export const createPingWork = (activities: PingActivities, options: PingWorkOptions) => {
  const { commands, blocking, prefix, onError } = options;
  const clock = clockOf(commands);
  const now = (): number => Math.floor(clock.now());
  // All pings are in one shard, because one worker waits for all of them.
  const openOver = (redis: RedisClient) =>
    openQueue('pings', shardPrefix(prefix, 0), { redis, onError }).queue;
  const queue = openOver(commands);
  const workerQueue = openOver(blocking);
  const untilItWorks = <Input, Output>(
    run: (input: Input, stop: AbortSignal) => Promise<Output | undefined>,
  ) =>
    activity<Input, Output>(async ({ input, signal }) => {
      const result = await run(input, signal).catch((error: unknown) => {
        if (!signal.aborted) onError(toError(error));
      });
      // The job keeps the text of an error, so this one says nothing.
      if (result === undefined) throw new Error('not now');
      return result as Output;
    }, policy);
  const workflow = defineWorkflow({
    name: 'ping',
    version: pingVersion,
    // It is not read afterwards.
    journal: false,
    chart: pingMachine.provide({
      actors: {
        untilSettled: untilItWorks(activities.untilSettled),
        ping: untilItWorks(activities.ping),
      },
    }),
    input: pingSchema,
    begin: (data: PingData): PingInput => ({ ...data, pausesMs }),
  });
  const engine = createEngine(spreadOver([queue], commands, now), now);
  let worker: WorkflowWorker | undefined;
  let closed: Promise<void> | undefined;
  return {
    add: async (login: PingData): Promise<void> => {
      await engine.start(workflow, login.reference, login);
    },
    start: (): void => {
      if (closed !== undefined) return;
      worker ??= startWorkflowWorker({
        queue: workerQueue,
        connection: blocking,
        workflows: [workflow],
        concurrency,
        now,
        onError,
        graceMs: 0,
        worker: { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
      });
    },
    close: (): Promise<void> => {
      closed ??= (async () => {
        await worker?.close();
        await closeQueues([queue, workerQueue]);
      })();
      return closed;
    },
  };
};
