/**
 * The name of a test file says which command runs it (vitest.config.ts): `npm test` stays quick
 * only while nothing in it starts whole processes. So a file that imports what starts them, itself
 * or by a helper, is named `*.e2e.test.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn } from './support/imports.ts';

const root = join(import.meta.dirname, '..');

/** Start the product, a program of a test, or another process that is killed. */
const starters = [
  'test/support/process.ts',
  'test/support/program.ts',
  'test/redis/embedded/processes.ts',
];
/** The same without such a module; a cluster's module also computes, which takes no cluster. */
const start = /\bstartRedisCluster\(|spawn\(process\.execPath, \['(?:dist|scripts)\//;

const sources = new Map(
  [
    'test',
    ...['packages', 'parts'].flatMap((top) =>
      readdirSync(join(root, top)).map((name) => `${top}/${name}/test`),
    ),
  ].flatMap((folder) =>
    filesIn(folder).map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
  ),
);

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path.replaceAll(sep, '/')}`);
  } catch {
    // A part without tests, or no folder.
    return [];
  }
}

/** The file and the helpers that it imports, directly or by others. */
const withHelpers = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
  const text = sources.get(path);
  if (text === undefined || seen.has(path)) return seen;
  seen.add(path);
  for (const name of importsIn(text)) {
    if (name?.startsWith('.')) withHelpers(posix.join(dirname(path), name), seen);
  }
  return seen;
};

const startsProcesses = (path: string): boolean => {
  const files = [...withHelpers(path)];
  return files.some((file) => starters.includes(file)) || start.test(sources.get(path) ?? '');
};

describe('test files', () => {
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts'));
  const isOfNpmTest = (path: string): boolean =>
    !/\.(e2e|browser|interop)\.test\.ts$|^test\/(packages|interop)\/|\/test\/foreign\/|^test\/faults\/(mutants|quiet-mutants|gateway-chain)\./.test(
      path,
    );

  it('that start processes or clusters are named *.e2e.test.ts', () => {
    expect(all.filter((path) => isOfNpmTest(path) && startsProcesses(path))).toEqual([]);
  });

  it('are known to start processes: the rule fires', () => {
    expect(all.filter(startsProcesses)).toEqual(
      expect.arrayContaining([
        'test/app/process.e2e.test.ts',
        'test/app/cluster.e2e.test.ts',
        'test/console/operators/bulk-crash.e2e.test.ts',
        'packages/engine/test/crashes.e2e.test.ts',
        'parts/pkcs11/test/start.e2e.test.ts',
      ]),
    );
  });
});
