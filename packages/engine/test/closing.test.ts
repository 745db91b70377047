/** A process that stops leaves what it does to others. */
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../src/define.ts';
import { startWorkflowWorker } from '../src/worker.ts';
import { createStage } from './stage.ts';

const redis = testRedis();
const begin = createStage(redis);

/** An activity that goes on until it is given up. */
const waitingFor = (tries: AbortSignal[]) =>
  defineWorkflow({
    name: 'waiting',
    version: 1,
    chart: setup({
      actors: {
        wait: fromPromise(({ signal }) => {
          tries.push(signal);
          return new Promise((_, reject) => signal.addEventListener('abort', reject));
        }),
      },
    }).createMachine({
      initial: 'waiting',
      states: { waiting: { invoke: { src: 'wait', onDone: 'done' } }, done: { type: 'final' } },
    }),
  });

const isHeld = ({ record }: { record: { children?: object | undefined } | undefined }): boolean =>
  Object.values(record?.children ?? {}).some(({ held }) => held === true);

describe('a worker that closes', () => {
  it('gives up what runs, begins nothing again, and another worker does', async () => {
    const tries: AbortSignal[] = [];
    const { engine, work, until } = begin();
    const waiting = waitingFor(tries);
    const ids = Array.from({ length: 20 }, (_, index) => `I-${index}`);
    const first = await work([waiting]);
    for (const id of ids) await engine.start(waiting, id);
    for (const id of ids) await until(id, isHeld);
    await first.close();
    expect(tries.map(({ aborted }) => aborted)).toEqual(ids.map(() => true));
    await work([waiting]);
    await vi.waitFor(() => expect(tries).toHaveLength(2 * ids.length), { timeout: 20_000 });
  });

  it('does not wait for a Redis that is away', async () => {
    const tries: AbortSignal[] = [];
    const { engine, queue, until } = begin();
    const waiting = waitingFor(tries);
    const connection = new Redis(redis.connection);
    connection.on('error', () => undefined);
    const worker = startWorkflowWorker({
      queue,
      connection,
      workflows: [waiting],
      concurrency: 10,
      now: Date.now,
      onError: () => undefined,
      graceMs: 0,
    });
    await worker.ready();
    await engine.start(waiting, 'I-1');
    await until('I-1', isHeld);
    // What is asked from now on waits.
    connection.sendCommand = () => new Promise(() => undefined);
    await worker.close();
    expect(tries.map(({ aborted }) => aborted)).toEqual([true]);
    connection.disconnect();
  });
});
