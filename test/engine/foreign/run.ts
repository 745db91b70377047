/**
 * `npm run foreign -- <checkout>`: runs the tests of XState in a checkout of its repository, and
 * each chart that they make in XState's interpreter and in the engine's. Writes README.md here.
 *
 * The checkout is never a part of this project:
 *
 *   git clone --depth 1 https://github.com/statelyai/xstate && cd xstate
 *   npm install --no-save rxjs
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain, knownNotToRun, tableOf, type Verdict } from './verdict.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '../../..');
const checkout = process.argv[2] ?? process.env.XSTATE_REPOSITORY ?? '';
const tests = join(checkout, 'packages/core/test');
if (!existsSync(tests)) {
  process.stderr.write('usage: npm run foreign -- <checkout of statelyai/xstate>\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
const results = join(folder, 'results.jsonl');
writeFileSync(results, '');
spawnSync(
  process.execPath,
  [
    join(project, 'node_modules/vitest/vitest.mjs'),
    ...['run', '--config', join(here, 'vitest.config.ts'), '--reporter', 'dot'],
  ],
  {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, XSTATE_REPOSITORY: checkout, FOREIGN_RESULTS: results },
  },
);
const lines = readFileSync(results, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Verdict | { readonly finished: string });
const finished = new Set(lines.flatMap((line) => ('finished' in line ? [line.finished] : [])));
const verdicts = lines.flatMap((line) => ('finished' in line ? [] : [explain(line)]));
const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(tests, name));
// A file whose process died, or that needs a package or a private part of XState, says nothing.
const notRun = files.filter((file) => !finished.has(file)).map((file) => file.slice(tests.length + 1));
rmSync(folder, { recursive: true });
writeFileSync(join(here, 'README.md'), tableOf(verdicts, notRun));
const open = verdicts.filter(({ reason }) => reason === 'different');
for (const { file, test, detail } of open) process.stdout.write(`${file}: ${test}\n  ${detail}\n`);
process.stdout.write(`${verdicts.length} charts, ${open.length} different without a reason\n`);
for (const file of notRun) process.stdout.write(`did not run to its end: ${file}\n`);
process.exitCode = open.length > 0 || notRun.some((file) => !knownNotToRun.includes(file)) ? 1 : 0;
