/**
 * The test of the test: a fault run finds what was broken on purpose, and passes the same schedule when nothing was.
 *
 * These are real runs of real processes, twenty seconds to two minutes each, started as a person would start them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));

const faults = async (...words: readonly string[]) => {
  const child = spawn(process.execPath, ['scripts/program.mjs', 'test/faults/run.ts', ...words], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
};

const patienceMs = 600_000;

const passesAndCatches = async (focus: string, mutants: Readonly<Record<string, string>>): Promise<void> => {
  const sound = await faults('--focus', focus, '--seed', `${focus}-sound`);
  expect(sound.output).toContain('0 violations');
  expect(sound.code).toBe(0);
  await Promise.all(
    Object.entries(mutants).map(async ([mutant, rule]) => {
      const broken = await faults('--mutant', mutant, '--seed', `${mutant}-broken`);
      expect(broken.output).toContain(`× ${rule}\n`);
      expect(broken.code).toBe(1);
    }),
  );
};

const title = 'passes with the %s in place and catches a build without it';

/** Half of a run is waiting, so two of these go on at a time (vitest.config.ts). The longest first. */
describe.concurrent('the fault test', () => {
  it.each<[focus: string, mutants: Readonly<Record<string, string>>]>([
    [
      'heal',
      {
        'slow-turns': 'every transaction ends in time',
        'early-acceptance': 'what was acknowledged is never lost',
      },
    ],
    // `no-timers` is found only where a killed worker held an instance, so it is for longer runs.
    ['processes', { 'no-order': 'steps end as they are defined' }],
    [
      'silence',
      {
        'no-silence': 'an API gives up silent connections within 5 s',
        'no-not-after': 'what was refused does not run',
      },
    ],
    ['turns', { 'no-turns': 'applications are served in turn' }],
    ['fence', { 'no-fence': 'history is a path of the machine' }],
    ['recheck', { 'no-recheck': 'an answer is taken or refused at once' }],
  ])(title, passesAndCatches, patienceMs);
});

/** A kill has to come between two writes, so as many transactions as possible have to end: nothing else runs beside it. */
describe.sequential('the fault test, alone on the machine', () => {
  it.each([['callbacks', { 'position-first': 'every end is told' }]])(title, passesAndCatches, patienceMs);
});
