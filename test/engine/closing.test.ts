/** What becomes of activities that run when their worker is closed. */
import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { setup } from 'xstate';
import { activity, defineWorkflow } from '../../src/engine/define.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { startWorkflowWorker } from '../../src/engine/worker.ts';
import { connectForBlocking } from '../../src/redis/connect.ts';
import { testRedis } from '../support/redis.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { createStage } from './stage.ts';

const begin = createStage(testRedis());

/** An instance of it waits for an activity that never ends. */
const endless = (onTry: () => void) =>
  defineWorkflow({
    name: 'endless',
    version: 1,
    chart: setup({
      actors: {
        work: activity(
          ({ signal }) =>
            new Promise((_, reject) => {
              onTry();
              signal.addEventListener('abort', () => reject(new Error('aborted')));
            }),
        ),
      },
    }).createMachine({ initial: 'working', states: { working: { invoke: { src: 'work' } } } }),
  });

it('goes on in another process at once, and not in the one that stops', async () => {
  const tries: string[] = [];
  const { engine, work, until } = begin();
  const workflow = endless(() => tries.push('first'));
  const first = await work([workflow]);
  await engine.start(workflow, 'I-1');
  await until('I-1', ({ record }) => Object.values(record?.children ?? {}).some(({ held }) => held === true));
  await first.close();
  const closedAt = performance.now();
  await work([endless(() => tries.push('second'))]);
  await expect.poll(() => tries, { timeout: 12_000 }).toContain('second');
  expect(tries).toEqual(['first', 'second']);
  // Not when a hold has run out.
  expect(performance.now() - closedAt).toBeLessThan(5000);
});

it('keeps nobody from closing while Redis is away', async () => {
  const server = await startRedisServer();
  const connection = connectForBlocking({ url: `redis://127.0.0.1:${server.port}` });
  connection.on('error', () => undefined);
  const queue = new Queue('workflows', { connection, prefix: '{away}', skipWaitingForReady: true });
  queue.on('error', () => undefined);
  let tries = 0;
  const workflow = endless(() => {
    tries += 1;
  });
  const common = { queue, connection, workflows: [workflow], concurrency: 1, now: Date.now };
  const worker = startWorkflowWorker({ ...common, graceMs: 0, onTrouble: () => undefined });
  await worker.ready();
  const engine = createEngine({ queue, redis: connection, now: Date.now });
  await engine.start(workflow, 'I-1');
  await expect.poll(async () => (await engine.find('I-1'))?.record?.children).toBeDefined();
  expect(tries).toBe(1);
  await server.stop();
  await worker.close();
  connection.disconnect();
}, 40_000);
