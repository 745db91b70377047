/**
 * Unpacks Debian's PostgreSQL (scripts/apt.mjs) into `.cache/postgres`. A server that the system
 * has is not used: a new machine gets the same as this one.
 *
 * PostgreSQL finds its files relative to its program, so an unpacked tree runs wherever it lies.
 * The library for compiling queries (LLVM, 100 MB) is left out; `jit` is off.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Apt, fetchPackages } from '../../scripts/apt.mjs';
import { project } from '../harness/program.ts';

export interface PostgresProgram {
  /** The unpacked tree, or the folder that was named. */
  readonly folder: string;
  /** From `folder`: where `initdb` and `postgres` are. */
  readonly programs: string;
  /** From `folder`: where libraries are that the system may lack. */
  readonly libraries: readonly string[];
}

const cache = join(project, '.cache/postgres');
const tree = join(cache, 'tree');

const look = (folder: string): PostgresProgram | undefined => {
  const versions = join(folder, 'usr/lib/postgresql');
  const [version] = existsSync(versions) ? readdirSync(versions) : [];
  if (version === undefined) return undefined;
  const libraries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => /^lib.*\.so(\.|$)/.test(entry.name))
    .map((entry) => relative(folder, entry.parentPath));
  const programs = join('usr/lib/postgresql', version, 'bin');
  return { folder, programs, libraries: [...new Set(libraries)] };
};

/** The server that the distribution prefers. */
const findServer = async (apt: Apt): Promise<readonly string[]> =>
  /Depends: (postgresql-\d+)/.exec(await apt('apt-cache', 'depends', 'postgresql'))?.slice(1) ?? [];

/** @throws In words when there is none and none can be fetched. */
export const providePostgres = async (say: (line: string) => void): Promise<PostgresProgram> => {
  const present = look(tree);
  if (present !== undefined) return present;
  const byHand = 'the peers need PostgreSQL from the packages of Debian or one of its children';
  if (!['', '0', 'false'].includes(process.env.PARAPH_NO_DOWNLOAD ?? ''))
    throw new Error(`PARAPH_NO_DOWNLOAD forbids fetching one: ${byHand}`);
  say(
    "fetching the system's own PostgreSQL package into .cache/postgres (about 17 MB, nothing is installed)",
  );
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'work-'));
  try {
    const error = await fetchPackages(work, findServer, /^lib(?!llvm)/, say);
    if (error !== undefined)
      throw new Error(`PostgreSQL could not be fetched (${error}): ${byHand}`);
    // The first rename wins; a later one finds the folder not empty.
    if (look(tree) === undefined) renameSync(join(work, 'root'), tree);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const fetched = look(tree);
  if (fetched === undefined)
    throw new Error(`the package of PostgreSQL has no server in it: ${byHand}`);
  return fetched;
};
