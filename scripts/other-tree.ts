/**
 * Another commit of this project beside this tree, in .cache/against/: for benchmarks that compare,
 * and for upgrades under faults.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const git = (project: string, ...given: readonly string[]): string =>
  execFileSync('git', given, { cwd: project, encoding: 'utf8' }).trim();

/**
 * @param commit Anything that git understands as a commit. @returns Its hash.
 * @throws When there is no such commit.
 */
export const hashOf = (project: string, commit: string): string =>
  git(project, 'rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`);

/** @returns The newest tag of a release that this tree comes after; undefined without one. */
export const lastRelease = (project: string): string | undefined =>
  git(project, 'tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname')
    .split('\n')
    .find((tag) => tag !== '');

/**
 * Checks a commit out, once. Its node_modules are ours when both lock files are the same; else its
 * own set-up installs them.
 *
 * @returns Its folder.
 */
export const checkOut = (project: string, hash: string): string => {
  const folder = join(project, '.cache', 'against', hash);
  if (existsSync(folder)) return folder;
  mkdirSync(join(project, '.cache'), { recursive: true });
  git(project, 'worktree', 'prune');
  git(project, 'worktree', 'add', '--detach', folder, hash);
  const isSame = ['package-lock.json', 'package.json'].every((name) =>
    readFileSync(join(project, name)).equals(readFileSync(join(folder, name))),
  );
  if (isSame) symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};
