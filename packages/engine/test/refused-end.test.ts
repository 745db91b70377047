/** What becomes of a job whose end Redis refuses: it ends as its turn has decided. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { type RunningRedis, startRedisServer } from '../../../test/support/redis-server.ts';
import { activity, defineWorkflow, type Workflow } from '../src/define.ts';
import { createEngine, spreadOver } from '../src/engine.ts';
import { startWorkflowWorker } from '../src/worker.ts';
import { createStage } from './stage.ts';

const begin = createStage(testRedis());

const signing = (sign: () => Promise<unknown>): Workflow =>
  defineWorkflow({
    name: 'signing',
    version: 1,
    chart: setup({ actors: { sign: activity(sign) } }).createMachine({
      initial: 'open',
      states: {
        open: { invoke: { src: 'sign', onDone: 'signed' } },
        signed: { type: 'final' },
      },
    }),
  });

const failing = defineWorkflow({
  name: 'failing',
  version: 1,
  chart: setup({
    actors: {
      ask: activity(async () => {
        throw new Error('_401 USER_CANCEL');
      }),
    },
  }).createMachine({ initial: 'open', states: { open: { invoke: { src: 'ask' } } } }),
});

const refusals = [
  'NOREPLICAS Not enough good replicas to write.',
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'BUSY Redis is busy running a script.',
  'NOSCRIPT No matching script.',
  "READONLY You can't write against a read only replica.",
  'LOADING Redis is loading the dataset in memory',
  'Command timed out',
  'Connection is closed.',
];

type Started = Awaited<ReturnType<ReturnType<typeof begin>['work']>>;

/** The end of a job is refused so often, by an answer of Redis. */
const refuse = (worker: Started, message: string, times: number): void => {
  let refused = 0;
  for (const each of worker.workers) {
    const backend = each.getBackend();
    for (const name of ['moveToCompleted', 'moveToFailed'] as const) {
      const real = backend[name].bind(backend) as (...given: unknown[]) => Promise<never>;
      backend[name] = async (...given: unknown[]) => {
        refused += 1;
        if (refused <= times) throw new Error(message);
        return real(...given);
      };
    }
  }
};

describe('a job whose end Redis refuses', () => {
  it.each([
    ...refusals.map((message) => ({ message, times: 1 })),
    // Longer than a worker tries.
    { message: refusals[0] ?? '', times: 9 },
  ])(
    'ends as its turn has decided, refused $times times by: $message',
    async ({ message, times }) => {
      const { engine, work, ended } = begin();
      const workflow = signing(async () => 'cms');
      const options = { worker: { lockDuration: 2000, stalledInterval: 300, runRetryDelay: 50 } };
      const worker = await work([workflow, failing], options);
      refuse(worker, message, times);
      await engine.start(workflow, 'I-1');
      expect(await ended('I-1')).toMatchObject({
        ended: 'completed',
        failedReason: undefined,
        record: { value: 'signed' },
      });
      refuse(worker, message, times);
      await engine.start(failing, 'I-2');
      expect(await ended('I-2')).toMatchObject({
        ended: 'failed',
        failedReason: '_401 USER_CANCEL',
      });
    },
  );
});

describe('a processor that throws what no turn throws', () => {
  it('leaves the job to the next turn', async () => {
    const { engine, work, ended } = begin();
    const workflow = signing(async () => 'cms');
    let turns = 0;
    await work([workflow], {
      around: async (_, run) => {
        turns += 1;
        if (turns === 1) throw new Error('a bug');
        return run();
      },
    });
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed', record: { value: 'signed' } });
  });
});

describe('a Redis that refuses writes for a moment', () => {
  let server: RunningRedis;
  let connection: Redis;
  let queue: Queue;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = new Redis(server.port, { maxRetriesPerRequest: null });
    queue = new Queue('workflows', { connection, prefix: '{refusing}' });
  });
  afterAll(async () => {
    await queue?.close();
    connection?.disconnect();
    await server?.stop();
  });

  it('changes no end of those that end meanwhile', async () => {
    const admin = server.client();
    const workflow = signing(async () => 'cms');
    const engine = createEngine(spreadOver([queue], connection, Date.now), Date.now);
    const troubles: string[] = [];
    const worker = startWorkflowWorker({
      queue,
      connection,
      workflows: [workflow],
      concurrency: 1,
      now: Date.now,
      onError: ({ message }) => troubles.push(message),
      worker: { lockDuration: 2000, stalledInterval: 300 },
    });
    await worker.ready();
    // Redis takes writes again before anything else is sent.
    for (const each of worker.workers) {
      const backend = each.getBackend();
      const real = backend.moveToCompleted.bind(backend) as (...given: unknown[]) => Promise<never>;
      let isRefused = false;
      backend.moveToCompleted = async (...given: unknown[]) => {
        isRefused = !isRefused;
        if (!isRefused) return real(...given);
        await admin.config('SET', 'min-replicas-to-write', '1');
        try {
          return await real(...given);
        } finally {
          await admin.config('SET', 'min-replicas-to-write', '0');
        }
      };
    }
    try {
      const ids = Array.from({ length: 10 }, (_, index) => `I-${index}`);
      await Promise.all(ids.map((id) => engine.start(workflow, id)));
      for (const id of ids)
        expect(await engine.ended(id, AbortSignal.timeout(50_000))).toMatchObject({
          ended: 'completed',
          record: { value: 'signed' },
        });
      expect(troubles.filter((message) => message.startsWith('NOREPLICAS')).length).toBeGreaterThan(
        5,
      );
    } finally {
      await worker.close();
    }
  });
});
