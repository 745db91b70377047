/** An engine on the Redis of this test run, with as many workers as a test wants. */
import { Queue, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach } from 'vitest';
import type { AnyActorLogic } from 'xstate';
import type { TestRedis } from '../../../test/support/redis.ts';
import type { Workflow } from '../src/define.ts';
import {
  createEngine,
  type Engine,
  type Instance,
  spreadOver,
  turnBusyTimeoutMs,
} from '../src/engine.ts';
import type { Observation } from '../src/interpret.ts';
import { createOthers } from '../src/other.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../src/worker.ts';

export interface Stage {
  readonly engine: Engine;
  readonly queue: Queue;
  readonly redis: Redis;
  readonly troubles: readonly Error[];
  readonly observed: readonly Observation[];
  work(
    workflows: readonly Workflow[],
    options?: {
      now?: () => number;
      concurrency?: number;
      holdMs?: number;
      graceMs?: number;
      worker?: Partial<WorkerOptions>;
      around?: NonNullable<Parameters<typeof startWorkflowWorker>[0]['around']>;
      tellEnd?: Parameters<typeof startWorkflowWorker>[0]['tellEnd'];
      activities?: Readonly<Record<string, AnyActorLogic>>;
    },
  ): Promise<WorkflowWorker>;
  /** Polls until the instance is as wanted. */
  until(id: string, wanted: (instance: Instance) => boolean): Promise<Instance>;
  ended(id: string): Promise<Instance>;
}

export const createStage = (given: TestRedis): (() => Stage) => {
  const closers: Array<() => Promise<unknown>> = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  let stages = 0;
  return () => {
    const connection = new Redis(given.connection);
    const prefix = `{${given.prefix}-${stages++}}`;
    const queue = new Queue('workflows', { connection, prefix });
    closers.push(async () => {
      await queue.close();
      connection.disconnect();
    });
    const locate = spreadOver([queue], connection, Date.now);
    const engine = createEngine(locate, Date.now);
    const others = createOthers({ engine: createEngine(locate, Date.now, turnBusyTimeoutMs) });
    const troubles: Error[] = [];
    const observed: Observation[] = [];
    const until: Stage['until'] = async (id, wanted) => {
      const limit = performance.now() + 50_000;
      for (;;) {
        const instance = await engine.find(id);
        if (instance !== undefined && wanted(instance)) return instance;
        if (performance.now() > limit) throw new Error(`still ${JSON.stringify(instance)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    return {
      engine,
      queue,
      redis: connection,
      troubles,
      observed,
      work: async (workflows, { now = Date.now, concurrency = 10, ...more } = {}) => {
        const worker = startWorkflowWorker({
          queue,
          connection,
          workflows,
          others,
          concurrency,
          now,
          ...more,
          observe: (_, observation) => observed.push(observation),
          onError: (error) => troubles.push(error),
        });
        await worker.ready();
        closers.push(() => worker.close());
        return worker;
      },
      until,
      ended: (id) => engine.ended(id, AbortSignal.timeout(50_000)),
    };
  };
};

/** Something that is waited for. */
export const createGate = <T = void>(): { readonly opened: Promise<T>; open(value: T): void } => {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
};
