/**
 * The tests that exist, asked of vitest itself, which reads them from the sources without running
 * anything and leaves skipped tests out. For documents that name tests: a table that is kept by
 * hand ages silently.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';

const project = join(import.meta.dirname, '../..');

/** A vitest that believes to be a worker of this one would answer to it. */
const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$)/.test(name)));

/**
 * @param files Below the root; others are not read.
 * @returns `file › full title` of each test that would run. Takes seconds; the machine may be busy
 * with other tests.
 */
export const listTests = async (files: readonly string[]): Promise<ReadonlySet<string>> => {
  const folder = await mkdtemp(join(tmpdir(), 'paraph-titles-'));
  try {
    const list = join(folder, 'tests.json');
    const vitest = join(project, 'node_modules/vitest/vitest.mjs');
    await promisify(execFile)(
      process.execPath,
      [
        vitest,
        'list',
        ...files,
        ...['unit', 'e2e', 'browser'].flatMap((name) => ['--project', name]),
        '--static-parse',
        `--json=${list}`,
      ],
      // The tests of browsers are listed without one, too: nothing is run.
      { cwd: project, env: { ...ownEnvironment(), CHROMIUM_PATH: process.execPath } },
    );
    const tests = JSON.parse(await readFile(list, 'utf8')) as { name: string; file: string }[];
    return new Set(
      tests.map(({ name, file }) => `${relative(project, file).replaceAll(sep, '/')} › ${name}`),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
