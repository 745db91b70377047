/** Brings what the judges are made of, each from its registry. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Of many lines of a package manager, the one that says what is wrong with the registry. */
const reasonIn = (output: string): string => {
  const lines = output.trim().split('\n');
  return (
    lines.find((line) => /refused|reason:|timed out|not known|resolution|ENOTFOUND/i.test(line)) ??
    lines.at(-1) ??
    ''
  );
};

/** @returns Runs commands there, and says whether all have worked. */
export const installIn =
  (folder: string) =>
  (what: string, ...commands: readonly (readonly [string, ...string[]])[]): boolean =>
    commands.every(([command, ...words]) => {
      const { status, error, stdout, stderr } = spawnSync(command, words, {
        cwd: folder,
        encoding: 'utf8',
      });
      if (status !== 0) {
        const reason = error?.message ?? reasonIn(`${stdout}${stderr}`);
        process.stdout.write(`NOT TRIED: ${what} cannot be installed: ${reason}\n`);
      }
      return status === 0;
    });

export const npmIn = (folder: string): readonly string[] => [
  'install',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--prefix',
  folder,
];

/** What brings packages of PyPI into a Python of their own, for {@link installIn}. */
export const pythonIn = (
  folder: string,
  ...packages: readonly string[]
): readonly (readonly [string, ...string[]])[] => [
  ['python3', '-m', 'venv', join(folder, 'python')],
  [
    join(folder, 'python/bin/python'),
    '-m',
    'pip',
    'install',
    '--quiet',
    '--retries=1',
    '--disable-pip-version-check',
    ...packages,
  ],
];
