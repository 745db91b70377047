/**
 * `npm run foreign -- <checkout of XState> [<checkout of restatedev/xstate>]`: runs charts that
 * nobody here wrote in XState's interpreter and in the engine's: those that the tests of XState and
 * Restate make, and those of their examples. Writes README.md here.
 *
 * The checkouts are never a part of this project:
 *
 *   git clone --depth 1 https://github.com/statelyai/xstate
 *   git clone --depth 1 https://github.com/restatedev/xstate restate
 *   (cd xstate && npm install --no-save rxjs cockatiel ramda)
 *
 * `npm run foreign -- kills …` runs some of them while workers are killed (kills.ts).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Collection,
  explain,
  knownNotToRun,
  sectionOf,
  type Verdict,
  writeSection,
} from './verdict.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '../../..');
const readme = join(here, 'README.md');
if (process.argv[2] === 'kills') {
  await import('./kills.ts');
  process.exit();
}
const [xstate = '', restate = ''] = process.argv.slice(2).map((path) => resolve(path));
if (!existsSync(join(xstate, 'packages/core/test'))) {
  process.stderr.write(
    'usage: npm run foreign -- <checkout of statelyai/xstate> [<restatedev/xstate>]\n',
  );
  process.exit(2);
}

const collections: readonly Collection[] = [
  { heading: 'Charts of XState’s own tests', checkout: xstate, tests: 'packages/core/test' },
  { heading: 'Charts of XState’s examples', checkout: xstate, examples: 'examples' },
  {
    heading: 'Charts of Restate’s tests for XState',
    checkout: restate,
    tests: 'packages/tests/src/lib',
  },
  { heading: 'Charts of Restate’s examples', checkout: restate, examples: 'packages/examples/src' },
].filter(
  ({ heading, checkout }) => checkout !== '' && heading.includes(process.env.FOREIGN_ONLY ?? ''),
);

const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
const runAll = ({ checkout, tests, examples }: Collection): readonly string[] => {
  const results = join(folder, 'results.jsonl');
  writeFileSync(results, '');
  spawnSync(
    process.execPath,
    [
      join(project, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      join(here, 'vitest.config.ts'),
      '--reporter',
      'dot',
    ],
    {
      // Examples write files.
      cwd: folder,
      stdio: ['ignore', 'ignore', process.env.FOREIGN_VERBOSE === undefined ? 'ignore' : 'inherit'],
      env: {
        ...process.env,
        FOREIGN_CHECKOUT: checkout,
        FOREIGN_INCLUDE: examples === undefined ? `${tests}/**/*.test.ts` : 'examples.ts',
        FOREIGN_RESULTS: results,
        ...(examples !== undefined && { FOREIGN_EXAMPLES: examples }),
      },
    },
  );
  return readFileSync(results, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
};

let isGood = true;
for (const collection of collections) {
  const { heading, checkout, tests } = collection;
  const lines = runAll(collection).map(
    (line) => JSON.parse(line) as Verdict | { readonly finished: string },
  );
  const finished = new Set(lines.flatMap((line) => ('finished' in line ? [line.finished] : [])));
  const verdicts = lines.flatMap((line) => ('finished' in line ? [] : [explain(line)]));
  const root = tests === undefined ? here : join(checkout, tests);
  const files =
    tests === undefined
      ? [join(here, 'examples.ts')]
      : readdirSync(root, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.test.ts'))
          .map((name) => join(root, name));
  // A file whose process died, or that needs a package or a private part of XState, says nothing.
  const notRun = files
    .filter((file) => !finished.has(file))
    .map((file) => file.slice(root.length + 1));
  writeSection(readme, heading, sectionOf(collection, verdicts, notRun));
  const open = verdicts.filter(({ reason }) => reason === 'different');
  for (const { file, test, detail } of open)
    process.stdout.write(`${file}: ${test}\n  ${detail}\n`);
  process.stdout.write(
    `${heading}: ${verdicts.length}, ${open.length} different without a reason\n`,
  );
  for (const file of notRun) process.stdout.write(`did not run to its end: ${file}\n`);
  if (open.length > 0 || notRun.some((file) => !knownNotToRun.includes(file))) isGood = false;
  if (process.env.FOREIGN_LIST !== undefined)
    for (const { test, isWalk, reason, seen, detail } of verdicts)
      process.stdout.write(`${test}${isWalk ? ' (walk)' : ''}: ${reason}: ${seen}: ${detail}\n`);
}
rmSync(folder, { recursive: true });
process.exitCode = isGood ? 0 : 1;
