/**
 * Fetches packages of Debian or one of its children without root and without changing the system:
 * the system's own apt-get downloads them and checks their signatures. Which libraries are missing
 * is asked of apt by a simulated installation.
 *
 * The package lists of a container are usually absent or older than the mirror (404): then lists
 * are fetched, too, by a copy of apt's configuration in which every hook and every path for writing
 * is replaced.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** @typedef {(program: 'apt-get' | 'apt-cache', ...options: string[]) => Promise<string>} Apt */

class AptError extends Error {}

/**
 * Downloads a server and the libraries that the system lacks, and unpacks them into `<work>/root`.
 *
 * @param {string} work  A directory of its own.
 * @param {(apt: Apt) => Promise<string[]>} findPackages  The server first, then its tools.
 * @param {RegExp} isWanted  Which of the missing packages are needed.
 * @param {(line: string) => void} say
 * @returns {Promise<string | undefined>} The error, in apt's words.
 */
export async function fetchPackages(work, findPackages, isWanted, say) {
  const debs = join(work, 'debs');
  const root = join(work, 'root');
  for (const directory of [
    debs,
    root,
    join(work, 'lists/partial'),
    join(work, 'cache/archives/partial'),
  ])
    mkdirSync(directory, { recursive: true });

  const download = async (/** @type {Apt} */ apt) => {
    const packages = await findPackages(apt);
    const simulated = await apt(
      'apt-get',
      '-s',
      'install',
      '--no-install-recommends',
      packages[0] ?? '',
    );
    const missing = [...simulated.matchAll(/^Inst (\S+)/gm)]
      .map((match) => match[1] ?? '')
      // Never the C library, which fits only its own loader.
      .filter((name) => isWanted.test(name) && !/^libc(6|-bin)?$/.test(name));
    await apt('apt-get', 'download', ...packages, ...missing);
  };
  try {
    try {
      await download(await aptWith(work, '/var/lib/apt/lists'));
    } catch (error) {
      if (!(error instanceof AptError)) throw error;
      say('reading the package lists first');
      const apt = await aptWith(work, join(work, 'lists'));
      // An unreachable third-party source alone is no failure: the download decides.
      await apt('apt-get', 'update').catch(() => undefined);
      await download(apt);
    }
    for (const file of readdirSync(debs))
      await runOrThrow('dpkg-deb', ['-x', join(debs, file), root]);
  } catch (error) {
    if (error instanceof AptError) return error.message;
    throw error;
  }
  return undefined;
}

/**
 * Writes the system's apt configuration (proxies, sources, trust) without its hooks and with our
 * own paths for writing. APT_CONFIG is read first, and pointing `Dir::Etc::parts` and `main` at
 * nothing keeps the original from being read again.
 *
 * @returns {Promise<Apt>} Throws an AptError where apt fails.
 */
async function aptWith(/** @type {string} */ work, /** @type {string} */ lists) {
  const dump = await runOrThrow('apt-config', ['dump']);
  const hooks =
    /^(APT::Update::|DPkg::|Dir::State|Dir::Cache|Dir::Log|Dir::Etc::(main|parts)|Acquire::IndexTargets::(?!deb::Packages))/i;
  const own = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::State': work,
    'Dir::State::lists': lists,
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Log': work,
    'Dir::Cache': join(work, 'cache'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    // As root apt would hand downloads to a user who may not enter this directory.
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    // Lists are read where they lie and never locked.
    'Debug::NoLocking': 'true',
  };
  const kept = dump.split('\n').filter((line) => !hooks.test(line));
  const lines = [...kept, ...Object.entries(own).map(([key, value]) => `${key} "${value}";`), ''];
  const file = join(work, 'apt.conf');
  writeFileSync(file, lines.join('\n'));
  const env = { ...process.env, APT_CONFIG: file, LC_ALL: 'C' };
  return (program, ...options) =>
    runOrThrow(program, ['-q', ...options], { cwd: join(work, 'debs'), env });
}

/**
 * @type {(command: string, options: string[], where?: { cwd?: string, env?: NodeJS.ProcessEnv }) =>
 * Promise<string>}
 */
async function runOrThrow(command, options, where = {}) {
  const { status, output } = await run(command, options, { ...where, output: 'kept' });
  if (status === 0) return output;
  const lines = output.trim().split('\n');
  const last = lines.findLast((line) => line.startsWith('E: ')) ?? lines.at(-1) ?? 'no output';
  throw new AptError(last.trim());
}
