/**
 * The test of the test: a fault run finds what was broken on purpose, and passes the same schedule
 * when nothing was.
 *
 * These are real runs of real processes, twenty seconds to two minutes each, started as a person
 * would start them.
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

const patienceMs = 120_000;

describe.sequential('the fault test', () => {
  it.each<[focus: string, mutants: Readonly<Record<string, string>>]>([
    ['fence', { 'no-fence': 'history is a path of the machine' }],
    ['recheck', { 'no-recheck': 'an answer is taken or refused at once' }],
    [
      'silence',
      {
        'no-silence': 'an API gives up silent connections within 5 s',
        'no-not-after': 'what was refused does not run',
      },
    ],
    ['turns', { 'no-turns': 'applications are served in turn' }],
    [
      'heal',
      {
        'slow-turns': 'every transaction ends in time',
        'early-acceptance': 'what was acknowledged is never lost',
      },
    ],
    ['callbacks', { 'position-first': 'every end is told' }],
    // `no-timers` is found only where a killed worker held an instance, so it is for longer runs.
    ['processes', { 'no-order': 'steps end as they are defined' }],
    ['bulks', { 'begun-forgotten': 'a bulk does all that is listed' }],
    ['mails', { 'mails-once': 'every mail is sent' }],
    ['logins', { 'codes-again': 'logins give the right tokens, once' }],
  ])(
    'passes with the %s in place and catches a build without it',
    async (focus, mutants) => {
      const broken = (): readonly ReturnType<typeof faults>[] =>
        Object.keys(mutants).map((mutant) =>
          faults('--mutant', mutant, '--seed', `${mutant}-broken`),
        );
      const sound = faults('--focus', focus, '--seed', `${focus}-sound`);
      // Most of a run is waiting. Three at a time would leave too little of the machine.
      if (Object.keys(mutants).length > 1) await sound;
      const results = await Promise.all([sound, ...broken()]);
      const expected = ['0 violations', ...Object.values(mutants).map((rule) => `× ${rule}\n`)];
      for (const [index, says] of expected.entries()) {
        expect(results[index]?.output).toContain(says);
        expect(results[index]?.code).toBe(index === 0 ? 0 : 1);
      }
    },
    3 * patienceMs,
  );
});
