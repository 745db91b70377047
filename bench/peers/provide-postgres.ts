/**
 * Makes a PostgreSQL server available without root and without changing the system: Debian's own
 * package, downloaded by apt-get (which checks its signature) and unpacked into `.cache/postgres`,
 * like scripts/redis-binary.mjs does for Redis, whose essay names the traps. A server that the
 * system has is not used: a new machine gets the same as this one.
 *
 * PostgreSQL finds its files relative to its program, so an unpacked tree runs wherever it lies.
 * The library for compiling queries (LLVM, 100 MB) is left out; `jit` is off.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { project } from '../harness/program.ts';

export interface PostgresProgram {
  /** The unpacked tree, or the folder that was named. */
  readonly folder: string;
  /** From `folder`: where `initdb` and `postgres` are. */
  readonly programs: string;
  /** From `folder`: where libraries are that the system may lack. */
  readonly libraries: readonly string[];
}

const run = promisify(execFile);
const cache = join(project, '.cache/postgres');
const tree = join(cache, 'tree');
const systemLists = '/var/lib/apt/lists';

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

/**
 * The system's apt configuration (proxies, sources, trust) without its hooks and with our own paths
 * for writing.
 *
 * @returns How to call an apt program with it.
 */
const aptWith = async (work: string, lists: string) => {
  const { stdout: dump } = await run('apt-config', ['dump']);
  const left =
    /^(APT::Update::|DPkg::|Dir::State|Dir::Cache|Dir::Log|Dir::Etc::(main|parts)|Acquire::IndexTargets::(?!deb::Packages))/i;
  const own = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::State': work,
    'Dir::State::lists': lists,
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Log': work,
    'Dir::Cache': work,
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Debug::NoLocking': 'true',
  };
  const lines = [
    ...dump.split('\n').filter((line) => !left.test(line)),
    ...Object.entries(own).map(([key, value]) => `${key} "${value}";`),
  ];
  const file = join(work, 'apt.conf');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const env = { ...process.env, APT_CONFIG: file, LC_ALL: 'C' };
  return async (program: 'apt-get' | 'apt-cache', ...args: string[]): Promise<string> =>
    (await run(program, ['-q', ...args], { cwd: join(work, 'debs'), env, maxBuffer: 1 << 26 })).stdout;
};

/** Downloads the distribution's server, and the libraries that the system lacks. */
const download = async (apt: Awaited<ReturnType<typeof aptWith>>): Promise<void> => {
  const server = /Depends: (postgresql-\d+)/.exec(await apt('apt-cache', 'depends', 'postgresql'))?.[1];
  if (server === undefined) throw new Error('the package lists know no PostgreSQL');
  const simulated = await apt('apt-get', '-s', 'install', '--no-install-recommends', server);
  const missing = [...simulated.matchAll(/^Inst (lib\S+)/gm)]
    .map((match) => match[1] ?? '')
    // Never the C library, which fits only its own loader.
    .filter((name) => !/^libc(6|-bin)$|^libllvm/.test(name));
  await apt('apt-get', 'download', server, ...missing);
};

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
    for (const folder of ['debs', 'root', 'lists/partial', 'archives/partial'])
      mkdirSync(join(work, folder), { recursive: true });
    try {
      await download(await aptWith(work, systemLists));
    } catch {
      say('reading the package lists first');
      const apt = await aptWith(work, join(work, 'lists'));
      // An unreachable third-party source alone is no failure: the download decides.
      await apt('apt-get', 'update').catch(() => undefined);
      await download(apt);
    }
    for (const file of readdirSync(join(work, 'debs')))
      await run('dpkg-deb', ['-x', join(work, 'debs', file), join(work, 'root')]);
    // The first rename wins; a later one finds the folder not empty.
    if (look(tree) === undefined) renameSync(join(work, 'root'), tree);
  } catch (error) {
    throw new Error(`PostgreSQL could not be fetched (${String(error).trim()}): ${byHand}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const fetched = look(tree);
  if (fetched === undefined) throw new Error(`the package of PostgreSQL has no server in it: ${byHand}`);
  return fetched;
};
