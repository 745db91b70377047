import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acquireInstanceLock } from '../../../src/redis/embedded/instance-lock.ts';
import { startProcess } from './processes.ts';

function newDataDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-lock-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'data');
}

/** Holders that have started and wait for the word. */
async function startHolders(dataDir: string, count: number) {
  const holders = Array.from({ length: count }, () =>
    startProcess(new URL('./lock-holder.mjs', import.meta.url), dataDir),
  );
  onTestFinished(async () => {
    for (const holder of holders) {
      try {
        holder.signal('SIGKILL');
      } catch {
        // Ended in the course of the test.
      }
      await holder.ended;
    }
  });
  for (const holder of holders) expect(await holder.line()).toBe('ready');
  return holders;
}

it('gives a data directory to one holder and tells the next one which directory and process', () => {
  const dataDir = newDataDir();
  expect(acquireInstanceLock(dataDir)).toMatchObject({ held: true });
  expect(acquireInstanceLock(dataDir)).toEqual({
    held: false,
    error: `Another Paraph (process ${process.pid}) already uses the data directory ${dataDir}: stop it, or set PARAPH_DATA to another directory.`,
  });
});

it('lets the next one in after a release, and leaves one small file', () => {
  const dataDir = newDataDir();
  for (let round = 0; round < 3; round += 1) {
    const lock = acquireInstanceLock(dataDir);
    expect(lock.held).toBe(true);
    if (lock.held) {
      lock.release();
      lock.release();
    }
  }
  expect(readdirSync(dataDir)).toEqual(['instance-3.lock']);
});

it('does not release what a successor holds', () => {
  const dataDir = newDataDir();
  const first = acquireInstanceLock(dataDir);
  if (first.held) first.release();
  const second = acquireInstanceLock(dataDir);
  if (first.held) first.release();
  expect(second.held).toBe(true);
  expect(acquireInstanceLock(dataDir).held).toBe(false);
});

it('is free again when its holder was killed with -9', async () => {
  const dataDir = newDataDir();
  const [holder] = await startHolders(dataDir, 1);
  holder?.say('go');
  expect(await holder?.line()).toBe('held');
  expect(acquireInstanceLock(dataDir).held).toBe(false);
  holder?.signal('SIGKILL');
  await holder?.ended;
  expect(acquireInstanceLock(dataDir).held).toBe(true);
});

it('is not held by a later process that happens to have the same id', () => {
  const dataDir = newDataDir();
  const lock = acquireInstanceLock(dataDir);
  if (lock.held) lock.release();
  symlinkSync(`${process.pid}@another-start`, join(dataDir, 'instance-7.lock'));
  expect(acquireInstanceLock(dataDir).held).toBe(true);
  expect(readdirSync(dataDir)).toEqual(['instance-8.lock']);
});

it('has one winner when many want the place of a dead holder at once', async () => {
  const dataDir = newDataDir();
  const holders = await startHolders(dataDir, 6);
  for (const holder of holders.slice(0, 1)) holder.say('go');
  expect(await holders[0]?.line()).toBe('held');
  holders[0]?.signal('SIGKILL');
  await holders[0]?.ended;
  const rest = holders.slice(1);
  for (const holder of rest) holder.say('go');
  const answers = await Promise.all(rest.map((holder) => holder.line()));
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(1);
  expect(
    answers.filter((answer) => answer?.includes('already uses the data directory')),
  ).toHaveLength(4);
});
