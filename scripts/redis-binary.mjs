/**
 * Finds a redis-server on the PATH, or unpacks Debian's package (apt.mjs) into a cache, with a
 * small launcher beside it that sets the library path. Two runs may do this at once: each works in
 * a directory of its own, and a rename decides.
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
import { homedir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackages } from './apt.mjs';

/** BullMQ's recommended minimum; Redis before it lacks commands that its scripts fall back from. */
const oldestRedis = [6, 2];

const project = fileURLToPath(new URL('..', import.meta.url));
/** `.cache` of a clone. What npm has installed may be removed or written anew: then the user's. */
const cacheFor = (/** @type {Record<string, string | undefined>} */ { XDG_CACHE_HOME }) =>
  existsSync(join(project, 'src'))
    ? join(project, '.cache', 'redis')
    : join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'paraph', 'redis');
const launcherIn = (/** @type {string} */ cache) => join(cache, 'redis-server');

/**
 * @param {Record<string, string | undefined>} environment
 *   PATH, PARAPH_REDIS_SERVER (taken as it is), PARAPH_NO_DOWNLOAD, XDG_CACHE_HOME.
 * @param {(line: string) => void} say  Gets one line before anything is downloaded.
 * @returns {Promise<{ command: string } | { problem: string }>} An absolute path, or what the
 *   operator can do, in a sentence.
 */
export async function provideRedis(environment, say) {
  if (environment.PARAPH_REDIS_SERVER) return { command: environment.PARAPH_REDIS_SERVER };
  const onPath = findOnPath(environment.PATH ?? '', ['redis-server', 'valkey-server']);
  if (onPath && isUsable(onPath)) return { command: onPath };

  const found = onPath
    ? `${onPath} is older than ${oldestRedis.join('.')}`
    : 'no redis-server on the PATH';
  const byHand = `set REDIS_URL, or install Redis (${process.platform === 'darwin' ? 'brew install redis' : 'for example: apt-get install redis-server'})`;
  let cache;
  try {
    cache = cacheFor(environment);
  } catch (error) {
    // A user without a home: of a container, say.
    return { problem: `There is ${found}, and no place for one (${error.message}): ${byHand}.` };
  }
  const launcher = launcherIn(cache);
  if (isUsable(launcher)) return { command: launcher };
  if (process.platform === 'win32')
    return { problem: 'The private Redis needs Linux or macOS: set REDIS_URL.' };
  if (!['', '0', 'false'].includes(environment.PARAPH_NO_DOWNLOAD ?? ''))
    return {
      problem: `There is ${found}, and PARAPH_NO_DOWNLOAD forbids fetching one: ${byHand}.`,
    };
  if (
    !findOnPath(environment.PATH ?? '', ['apt-get']) ||
    !findOnPath(environment.PATH ?? '', ['dpkg-deb'])
  ) {
    return { problem: `There is ${found}: ${byHand}.` };
  }

  say(
    `${found}: fetching the system's own redis-server package into ${cache} (about 2 MB, nothing is installed)`,
  );
  const problem = await fetchRedis(cache, say);
  return problem
    ? {
        problem: `There is ${found}, and its package could not be fetched (${problem}): ${byHand}.`,
      }
    : { command: launcher };
}

/** @returns {Promise<string | undefined>} The error. */
async function fetchRedis(/** @type {string} */ cache, /** @type {(line: string) => void} */ say) {
  try {
    mkdirSync(cache, { recursive: true });
  } catch (error) {
    return error.message;
  }
  sweepAbandoned(cache);
  const work = join(cache, `work-${randomUUID()}`);
  try {
    const error = await fetchPackages(
      work,
      async () => ['redis-server', 'redis-tools'],
      /^(lib|lua)/,
      say,
    );
    return error ?? publish(join(work, 'root'), cache);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Makes the unpacked tree the one in use, unless another run was faster; then that one is as good.
 *
 * @returns {string | undefined} The error.
 */
function publish(/** @type {string} */ root, /** @type {string} */ cache) {
  const launcher = launcherIn(cache);
  const libraries = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => /\.so(\.|$)/.test(entry.name))
    .map((entry) => relative(root, entry.parentPath ?? entry.path));
  // The tree gets a name of its own and only the launcher is replaced, so a Redis that is being
  // started never looks into a half-replaced tree.
  const tree = `tree-${randomUUID()}`;
  const searched = [...new Set(libraries)]
    .map((directory) => `$here/${tree}/${directory}`)
    .join(':');
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
function sweepAbandoned(/** @type {string} */ cache) {
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
