/**
 * Makes a redis-server available without root, without a daemon and without changing the system.
 *
 * Whoever has one on the PATH has it used. On Debian and its children the packages are downloaded
 * by the system's own apt-get, which checks their signatures, and unpacked into `.cache/redis` of
 * this project; a small launcher beside them sets the library path. Which libraries are missing is
 * apt's knowledge: it is asked to simulate the installation, and what it would install is what is
 * fetched.
 *
 * Two traps. The package lists of a container are usually absent or older than the mirror (404):
 * then lists are fetched into the cache too, by a copy of apt's configuration in which every hook
 * and every path for writing is replaced. And two runs may do all this at once: each works in a
 * directory of its own, and a rename decides.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

/** BullMQ's recommended minimum; Redis before it lacks commands that its scripts fall back from. */
const oldestRedis = [6, 2];

const project = fileURLToPath(new URL('..', import.meta.url));
const cache = join(project, '.cache', 'redis');
const launcher = join(cache, 'redis-server');

/**
 * @param {Record<string, string | undefined>} environment  PATH, PARAPH_REDIS_SERVER (taken as it is), PARAPH_NO_DOWNLOAD.
 * @param {(line: string) => void} say  Gets one line before anything is downloaded.
 * @returns {Promise<{ command: string } | { problem: string }>} An absolute path, or what the
 *   operator can do, in a sentence.
 */
export async function provideRedis(environment, say) {
  if (environment.PARAPH_REDIS_SERVER) return { command: environment.PARAPH_REDIS_SERVER };
  const onPath = findOnPath(environment.PATH ?? '', ['redis-server', 'valkey-server']);
  if (onPath && isUsable(onPath)) return { command: onPath };
  if (isUsable(launcher)) return { command: launcher };

  const found = onPath ? `${onPath} is older than ${oldestRedis.join('.')}` : 'no redis-server on the PATH';
  const byHand = `set REDIS_URL, or install Redis (${process.platform === 'darwin' ? 'brew install redis' : 'for example: apt-get install redis-server'})`;
  if (process.platform === 'win32')
    return { problem: 'The private Redis needs Linux or macOS: set REDIS_URL.' };
  if (!['', '0', 'false'].includes(environment.PARAPH_NO_DOWNLOAD ?? ''))
    return { problem: `There is ${found}, and PARAPH_NO_DOWNLOAD forbids fetching one: ${byHand}.` };
  if (!findOnPath(environment.PATH ?? '', ['apt-get']) || !findOnPath(environment.PATH ?? '', ['dpkg-deb'])) {
    return { problem: `There is ${found}: ${byHand}.` };
  }

  say(
    `${found}: fetching the system's own redis-server package into ${relative(process.cwd(), cache) || cache} (about 2 MB, nothing is installed)`,
  );
  const problem = await fetchPackages(say);
  return problem
    ? { problem: `There is ${found}, and its package could not be fetched (${problem}): ${byHand}.` }
    : { command: launcher };
}

/** @returns {Promise<string | undefined>} What went wrong. */
async function fetchPackages(/** @type {(line: string) => void} */ say) {
  mkdirSync(cache, { recursive: true });
  sweepAbandoned();
  const work = join(cache, `work-${randomUUID()}`);
  const root = join(work, 'root');
  const state = join(work, 'apt');
  for (const directory of [
    root,
    join(work, 'debs'),
    join(state, 'lists/partial'),
    join(state, 'cache/archives/partial'),
  ]) {
    mkdirSync(directory, { recursive: true });
  }
  try {
    const withSystemLists = await download(work, await aptConfiguration(state, '/var/lib/apt/lists'));
    if (withSystemLists) {
      say('reading the package lists first');
      const configuration = await aptConfiguration(state, join(state, 'lists'));
      // An unreachable third-party source alone is no failure: the download decides.
      await apt(work, configuration, ['update']);
      const withOwnLists = await download(work, configuration);
      if (withOwnLists) return withOwnLists;
    }
    for (const file of readdirSync(join(work, 'debs'))) {
      const unpacked = await run('dpkg-deb', ['-x', join(work, 'debs', file), root], { output: 'kept' });
      if (unpacked.status !== 0) return lastLine(unpacked.output);
    }
    return publish(root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Downloads Redis and whatever it needs that the system lacks.
 *
 * @returns {Promise<string | undefined>} What went wrong.
 */
async function download(/** @type {string} */ work, /** @type {string} */ configuration) {
  const simulated = await apt(work, configuration, [
    '-s',
    'install',
    '--no-install-recommends',
    'redis-server',
  ]);
  if (simulated.status !== 0) return lastLine(simulated.output);
  const missing = [...simulated.output.matchAll(/^Inst (\S+)/gm)]
    .map((match) => match[1] ?? '')
    // Never the C library, which fits only its own loader.
    .filter((name) => /^(lib|lua)/.test(name) && !/^libc(6|-bin)?$/.test(name));
  const wanted = ['redis-server', 'redis-tools', ...missing];
  const downloaded = await apt(join(work, 'debs'), configuration, ['download', ...wanted]);
  return downloaded.status === 0 ? undefined : lastLine(downloaded.output);
}

function apt(
  /** @type {string} */ cwd,
  /** @type {string} */ configuration,
  /** @type {string[]} */ aptArguments,
) {
  return run('apt-get', ['-q', ...aptArguments], {
    cwd,
    output: 'kept',
    env: { ...process.env, APT_CONFIG: configuration, LC_ALL: 'C' },
  });
}

/**
 * Writes the system's apt configuration (proxies, sources, trust) without its hooks and with our
 * own paths for writing. APT_CONFIG is read first, and pointing `Dir::Etc::parts` and `main` at
 * nothing keeps the original from being read again.
 *
 * @returns {Promise<string>} The file for APT_CONFIG.
 */
async function aptConfiguration(/** @type {string} */ state, /** @type {string} */ lists) {
  const { output: dump } = await run('apt-config', ['dump'], { output: 'kept' });
  const hooks =
    /^(APT::Update::|DPkg::|Dir::State|Dir::Cache|Dir::Log|Dir::Etc::(main|parts)|Acquire::IndexTargets::(?!deb::Packages))/i;
  const own = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::State': state,
    'Dir::State::lists': lists,
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Log': state,
    'Dir::Cache': join(state, 'cache'),
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
  const file = join(state, `apt-${lists === '/var/lib/apt/lists' ? 'system' : 'own'}.conf`);
  const kept = dump.split('\n').filter((line) => !hooks.test(line));
  writeFileSync(
    file,
    [...kept, ...Object.entries(own).map(([key, value]) => `${key} "${value}";`), ''].join('\n'),
  );
  return file;
}

/**
 * Makes the unpacked tree the one in use, unless another run was faster; then that one is as good.
 *
 * @returns {string | undefined} What went wrong.
 */
function publish(/** @type {string} */ root) {
  const libraries = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => /\.so(\.|$)/.test(entry.name))
    .map((entry) => relative(root, entry.parentPath ?? entry.path));
  // The tree gets a name of its own and only the launcher is replaced, so a Redis that is being
  // started never looks into a half-replaced tree.
  const tree = `tree-${randomUUID()}`;
  const searched = [...new Set(libraries)].map((directory) => `$here/${tree}/${directory}`).join(':');
  const script = [
    '#!/bin/sh',
    '# Written by scripts/redis-binary.mjs: starts the redis-server that was unpacked beside this file.',
    'here=$(dirname "$0")',
    `LD_LIBRARY_PATH="${searched}" exec "$here/${tree}/usr/bin/redis-server" "$@"`,
    '',
  ].join('\n');
  renameSync(root, join(cache, tree));
  const unpublished = join(cache, `launcher-${randomUUID()}`);
  writeFileSync(unpublished, script);
  chmodSync(unpublished, 0o755);
  const version = versionOf(unpublished);
  if (!isRecent(version)) {
    rmSync(unpublished);
    rmSync(join(cache, tree), { recursive: true });
    return version
      ? `it holds Redis ${version.join('.')}, older than ${oldestRedis.join('.')}`
      : 'what was unpacked does not run here';
  }
  if (isUsable(launcher)) {
    rmSync(unpublished);
    rmSync(join(cache, tree), { recursive: true });
  } else {
    renameSync(unpublished, launcher);
  }
  return undefined;
}

/** Removes what killed runs left behind; an hour is longer than any download. */
function sweepAbandoned() {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (/^(work|launcher)-/.test(name) && Date.now() - statSync(path).mtimeMs > 3_600_000)
      rmSync(path, { recursive: true, force: true });
  }
}

/** @returns {string | undefined} */
function findOnPath(/** @type {string} */ path, /** @type {string[]} */ names) {
  const candidates = names.flatMap((name) =>
    path
      .split(delimiter)
      .filter(Boolean)
      .map((directory) => join(directory, name)),
  );
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return statSync(candidate).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * Major and minor of what `--version` prints: `Redis server v=7.0.15 …`, `Valkey server v=8.1.1 …`.
 *
 * @returns {number[] | undefined} Undefined when the program does not run.
 */
function versionOf(/** @type {string} */ command) {
  const printed = spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const match = /v=(\d+)\.(\d+)/.exec(printed);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

function isUsable(/** @type {string} */ command) {
  return existsSync(command) && isRecent(versionOf(command));
}

function isRecent(/** @type {number[] | undefined} */ version) {
  if (!version) return false;
  const [major = 0, minor = 0] = version;
  const [oldestMajor = 0, oldestMinor = 0] = oldestRedis;
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

function lastLine(/** @type {string} */ output) {
  const lines = output.trim().split('\n');
  return (lines.findLast((line) => line.startsWith('E: ')) ?? lines.at(-1) ?? 'no output').trim();
}
