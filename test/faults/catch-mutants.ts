/**
 * The test of the fault test: a fault run finds what was broken on purpose, and passes the same
 * schedule when nothing was.
 *
 * These are real runs of real processes, twenty seconds to two minutes each, started as a person
 * would start them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { FocusName, MutantName } from './focus.ts';

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

/** The mutants that the runs of a focus must find, each with the rule that it breaks. */
export type Caught = readonly [
  focus: FocusName,
  mutants: Readonly<Partial<Record<MutantName, string>>>,
];

/** Registers a test for each focus. They run one after the other. */
export const testMutants = (all: readonly Caught[]): void => {
  describe.sequential('the fault test', () => {
    it.each(all)(
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
};
