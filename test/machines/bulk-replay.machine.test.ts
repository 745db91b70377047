import { expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import {
  type BulkEnd,
  type BulkWork,
  bulkReplayMachine,
} from '../../machines/bulk-replay.machine.ts';

const order = { id: 'B1', by: 'olga', reason: 'x', perSecond: 5, createdAt: 1, total: 3 };

/** @param given What the work was begun with. */
const begin = (given: BulkWork[], waiting: number) => {
  const others = {
    inFlight: 0,
    failed: {},
    cancelled: 0,
    done: 0,
    changed: 0,
    gone: 0,
    refused: 0,
  };
  const counts = { ...others, waiting, signed: 3 - waiting };
  const workOff = fromPromise<BulkEnd, BulkWork>(async ({ input, signal }) => {
    given.push(input);
    if (!input.stopping && waiting > 0) {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('left'))),
      );
    }
    return { counts, endedAt: 2 };
  });
  return createActor(bulkReplayMachine.provide({ actors: { workOff } }), { input: order }).start();
};

it('is done when all of the list is, and keeps how many ended how', async () => {
  const given: BulkWork[] = [];
  const actor = begin(given, 0);
  const end = await waitFor(actor, ({ status }) => status === 'done');
  expect(end.value).toBe('done');
  expect(end.context).toMatchObject({ order, end: { counts: { signed: 3 }, endedAt: 2 } });
  expect(given).toEqual([{ order, stopping: false }]);
  expect(end.can({ type: 'STOP' })).toBe(false);
});

it('waits after STOP for what has been replayed, and takes no other', async () => {
  const given: BulkWork[] = [];
  const actor = begin(given, 1);
  actor.send({ type: 'STOP' });
  expect(actor.getSnapshot().value).toBe('stopping');
  expect(actor.getSnapshot().can({ type: 'STOP' })).toBe(false);
  const end = await waitFor(actor, ({ status }) => status === 'done');
  expect(end.value).toBe('stopped');
  expect(given.map(({ stopping }) => stopping)).toEqual([false, true]);
});
