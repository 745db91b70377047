/** Work at the end of a turn of the event loop. */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { atEndOfTurn } from '../../src/redis/end-of-turn.ts';

it('does in one pass, and in order, what the work of a turn puts off', async () => {
  const done: string[] = [];
  atEndOfTurn(() => {
    done.push('one');
    atEndOfTurn(() => done.push('of one'));
  });
  atEndOfTurn(() => done.push('two'));
  expect(done).toEqual([]);
  await endOfTurn();
  expect(done).toEqual(['one', 'two', 'of one']);
});

it('goes on with the rest, and with later turns, after work that throws', async () => {
  const thrown: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => thrown.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  });
  const done: string[] = [];
  atEndOfTurn(() => {
    throw new Error('planted');
  });
  atEndOfTurn(() => done.push('rest'));
  await expect.poll(() => done).toEqual(['rest']);
  expect(thrown).toMatchObject([{ message: 'planted' }]);
  atEndOfTurn(() => done.push('later'));
  await expect.poll(() => done).toEqual(['rest', 'later']);
});
