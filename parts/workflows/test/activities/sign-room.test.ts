/** How many transactions workflows may have waiting, and when those without room try again. */
import { expect, it } from 'vitest';
import { createSignRoom } from '../../activities/sign-room.ts';

const stage = () => {
  const waiting = new Map<string, number>();
  let time = 1_000_000;
  const sum = (): number => [...waiting.values()].reduce((all, each) => all + each, 0);
  const backlog = {
    size: sum,
    sizeOf: (apId: string) => waiting.get(apId) ?? 0,
    added: (apId: string | undefined) =>
      void waiting.set(apId ?? '', (waiting.get(apId ?? '') ?? 0) + 1),
  };
  const room = createSignRoom(backlog, { ofOne: 10, inAll: 100 }, () => time);
  return { room, waiting, pass: (ms: number) => (time += ms) };
};

it('gives workflows half of what an application may have waiting, each application its own', () => {
  const { room, waiting } = stage();
  const taken = Array.from({ length: 8 }, () => room.take('a'));
  expect(taken.filter((ms) => ms === 0)).toHaveLength(5);
  expect(room.take('b')).toBe(0);
  // A count of the queue before they are in it changes nothing.
  waiting.clear();
  expect(room.take('a')).toBeGreaterThan(0);
  for (let used = 0; used < 5; used += 1) room.end('a', true);
  expect(room.take('a')).toBeGreaterThan(0);
  waiting.set('a', 4);
  expect(room.take('a')).toBe(0);
});

it('is looked for without being taken, and counts nothing that was not added', () => {
  const { room, waiting } = stage();
  expect(Array.from({ length: 8 }, () => room.look('a'))).toEqual(Array(8).fill(0));
  for (let index = 0; index < 8; index += 1) {
    expect(room.take('a')).toBe(0);
    room.end('a', false);
  }
  expect(waiting).toEqual(new Map());
});

it('gives none while all applications together have filled the queue', () => {
  const { room, waiting } = stage();
  waiting.set('others', 100);
  expect(room.take('a')).toBeGreaterThan(0);
  waiting.set('others', 99);
  expect(room.take('a')).toBe(0);
  // The last place is taken, though the queue does not have its transaction yet.
  expect(room.take('b')).toBeGreaterThan(0);
});

it('spreads those that wait, so that no more than some hundreds try in a second, however many they are', () => {
  const { room, waiting, pass } = stage();
  waiting.set('a', 5);
  const waits = Array.from({ length: 10_000 }, () => room.take('a'));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
  const bySecond = new Map<number, number>();
  for (const ms of waits)
    bySecond.set(Math.floor(ms / 1000), (bySecond.get(Math.floor(ms / 1000)) ?? 0) + 1);
  expect(Math.max(...bySecond.values())).toBeLessThanOrEqual(501);
  // Nobody waits any more.
  pass(60_000);
  expect(room.take('a')).toBe(500);
});
