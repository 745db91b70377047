/**
 * Tells clients in ping mode that a login has ended: one instance of the chart (machines/ping.machine.ts) for each such login.
 *
 * A process waits for the end of each login that it has, while the job sleeps. One that stops gives them up, one that dies does not
 * renew its holds any more, and another process waits. When a process was only stalled, the client is told twice, which it must bear.
 */
import {
  type PingData,
  type PingInput,
  type PingLogin,
  type PingResult,
  type PingTry,
  pingMachine,
  pingSchema,
  pingVersion,
} from '../../../machines/ping.machine.ts';
import { activity, defineWorkflow } from '../../engine/define.ts';
import { createEngine, spreadOver } from '../../engine/engine.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../../engine/worker.ts';
import { clockOf, type RedisClient } from '../../redis/connect.ts';
import { shardPrefix } from '../../transactions/contract.ts';
import { closeQueues, openQueue } from '../../transactions/shards.ts';

/** What is done for the chart. Undefined, not here and now: it is done again, here or in another process. So is what rejects. */
export interface PingActivities {
  untilSettled(login: PingLogin, stop: AbortSignal): Promise<boolean | undefined>;
  ping(given: PingTry, stop: AbortSignal): Promise<PingResult | undefined>;
}

export interface PingWorkOptions {
  /** Over which logins are added: somebody waits for that. */
  readonly commands: RedisClient;
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly onError: (error: Error) => void;
}

/** Between two tries of a client's endpoint. */
const pausesMs = [1000, 3000];
const concurrency = 50;
/** The next process that takes it may be able to. */
const policy = { attempts: Number.POSITIVE_INFINITY, maxBackoffMs: 1000 };

export const createPingWork = (activities: PingActivities, options: PingWorkOptions) => {
  const { commands, blocking, prefix, onError } = options;
  const clock = clockOf(commands);
  const now = (): number => Math.floor(clock.now());
  // One worker waits for all of them, so they are all in one shard.
  const openOver = (redis: RedisClient) =>
    openQueue('pings', shardPrefix(prefix, 0), { redis, onError }).queue;
  const queue = openOver(commands);
  const workerQueue = openOver(blocking);
  const untilItWorks = <Input, Output>(
    run: (input: Input, stop: AbortSignal) => Promise<Output | undefined>,
  ) =>
    activity<Input, Output>(async ({ input, signal }) => {
      const result = await run(input, signal).catch((error: unknown) => {
        if (!signal.aborted) onError(error instanceof Error ? error : new Error('unknown'));
      });
      // What an error says lies in the job for a while.
      if (result === undefined) throw new Error('not now');
      return result as Output;
    }, policy);
  const workflow = defineWorkflow({
    name: 'ping',
    version: pingVersion,
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

  const close = async (): Promise<void> => {
    await worker?.close();
    await closeQueues([queue, workerQueue]);
  };
  return {
    /** From now on the client will be told when the login ends. */
    add: (login: PingData): Promise<void> => engine.start(workflow, login.reference, login),
    /** Runs activities in this process, also of what others have left behind. Safe to call again. */
    start: (): void => {
      if (closed !== undefined) return;
      // What an earlier release waited for. Its processes may still be at it, for less than a day: no login is open for longer.
      blocking.expire(`${prefix}:oidc:pings`, 86_400, 'NX').catch(onError);
      worker ??= startWorkflowWorker({
        queue: workerQueue,
        connection: blocking,
        workflows: [workflow],
        concurrency,
        now,
        onError,
        graceMs: 0,
        // Nobody asks for one that is over.
        worker: { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
      });
    },
    /** Leaves what is open to others. Safe to call again. */
    close: (): Promise<void> => {
      closed ??= close();
      return closed;
    },
  };
};
