/**
 * What a fresh clone lacks: the packages, the compiled program, a Redis.
 *
 * Each step compares the contents of files first (git does not keep times), and says a line only
 * when it has something to do.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { provideRedis } from './redis-binary.mjs';
import { run } from './run.mjs';

export const project = fileURLToPath(new URL('..', import.meta.url));

/** The one way in which set-up fails: a sentence for the person at the terminal. */
export class SetupProblem extends Error {}

/** Goes to stderr: what a command prints to stdout is its result. */
export function say(/** @type {string} */ line) {
  process.stderr.write(`paraph: ${line}\n`);
}

/**
 * Runs a script's main function; a {@link SetupProblem} becomes one line and exit status 1.
 *
 * @param {() => Promise<void>} main
 */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

/**
 * Makes the end of the `npm start` or `npx paraph start` above this process count as SIGTERM: with
 * some shells a `sh` stands between, and dies of a signal without passing it on. Only there: a
 * start in the background may outlive its shell.
 */
export function stopWithNpm() {
  if (!['start', 'npx'].includes(process.env.npm_lifecycle_event ?? '')) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

/** A hash of package-lock.json and npm's own record after a successful `npm ci`. */
const installedFile = join(project, 'node_modules', '.paraph-lock');

/** Installs the packages of package-lock.json, the development ones too, unless they are there. */
export async function ensurePackages() {
  if (packagesAreInstalled()) return;
  await exclusively(async () => {
    if (packagesAreInstalled()) return;
    say('installing packages (npm ci)');
    const [command, ...leading] = npmCommand();
    // NODE_ENV=production would leave out the compiler.
    const options = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = await run(command, [...leading, ...options], {
      cwd: project,
      output: 'errors',
    });
    if (status !== 0)
      throw new SetupProblem(`npm ci failed with status ${status}; its messages stand above.`);
    writeFileSync(installedFile, fingerprintOfPackages());
  });
}

/**
 * Installed by us and untouched since, or by the developer's own `npm install`, which leaves every
 * package of the lock file in npm's record. Optional packages are those of other platforms.
 */
function packagesAreInstalled() {
  try {
    if (readOr(installedFile, '') === fingerprintOfPackages()) return true;
    const wanted = packagesOf('package-lock.json');
    const present = packagesOf('node_modules/.package-lock.json');
    return Object.entries(wanted).every(
      ([path, entry]) =>
        path === '' || entry.optional || present[path]?.integrity === entry.integrity,
    );
  } catch {
    // A file is missing or half written.
    return false;
  }
}

function fingerprintOfPackages() {
  const files = ['package-lock.json', 'node_modules/.package-lock.json'];
  return hashOf(files.map((name) => join(project, name)));
}

/** @returns {Record<string, { integrity?: string, optional?: boolean }>} */
function packagesOf(/** @type {string} */ lockFile) {
  return JSON.parse(readFileSync(join(project, lockFile), 'utf8')).packages;
}

/** The npm that runs us, else the one on the PATH. @returns {[string, ...string[]]} */
export function npmCommand() {
  const runner = process.env.npm_execpath;
  return runner?.endsWith('npm-cli.js') ? [process.execPath, runner] : ['npm'];
}

const fingerprintFile = join(project, 'dist', '.sources');

/** Whether dist/ was made, by this script, from the sources as they are now. A package has none. */
export function isBuilt() {
  return (
    !existsSync(join(project, 'src')) || readOr(fingerprintFile, '') === fingerprintOfSources()
  );
}

/** Compiles into dist/ when it is missing or its sources have changed. */
export async function ensureBuilt() {
  if (isBuilt()) return;
  await exclusively(async () => {
    if (isBuilt()) return;
    say('compiling');
    await build();
  });
}

/** Compiles into an empty dist/, so that nothing without a source stays importable. */
export async function build() {
  const fingerprint = fingerprintOfSources();
  rmSync(join(project, 'dist'), { recursive: true, force: true });
  const { status } = await run(
    process.execPath,
    [tool('typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    {
      cwd: project,
      output: 'errors',
    },
  );
  if (status !== 0) throw new SetupProblem('compiling failed; the messages stand above.');
  for (const top of ['src', 'parts']) {
    for (const room of readdirSync(join(project, top))) {
      const assets = join(top, room, 'assets');
      if (existsSync(join(project, assets)))
        cpSync(join(project, assets), join(project, 'dist', assets), { recursive: true });
    }
  }
  const shownText = join('src', 'http', 'pages', 'shown-text', 'shown-text.js');
  cpSync(join(project, shownText), join(project, 'dist', shownText));
  // Packages may have been missing when this file was loaded.
  if (existsSync(join(project, 'parts', 'documents'))) {
    const { copyReaderFiles } = await import('./reader-files.mjs');
    const target = join(project, 'dist', 'parts', 'documents', 'assets', 'pdfjs');
    copyReaderFiles(join(project, 'node_modules', 'pdfjs-dist'), target);
  }
  const { writeReferenceScript } = await import('./reference-script.mjs');
  writeReferenceScript(join(project, 'dist/src/http/documentation/reference.js.gz'));
  writeFileSync(fingerprintFile, fingerprint);
}

function fingerprintOfSources() {
  const packages = readdirSync(join(project, 'packages'))
    .map((name) => `packages/${name}/src`)
    .filter((path) => existsSync(join(project, path)));
  const settings = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  return hashOf([
    ...[...packages, 'src', 'machines', 'workers', 'parts'].flatMap((directory) =>
      filesBelow(join(project, directory)),
    ),
    ...settings.map((name) => join(project, name)),
  ]);
}

/** A hash of names and contents. */
function hashOf(/** @type {string[]} */ files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(`\0${file.slice(project.length)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** @returns {string[]} In the same order everywhere. */
function filesBelow(/** @type {string} */ directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/**
 * Finds or fetches a redis-server, unless the environment names a running Redis, and puts its path
 * into PARAPH_REDIS_SERVER, where this process's program and every child finds it.
 *
 * @param {string | undefined} runningRedis  The address that makes a binary unnecessary.
 */
export async function ensureRedis(runningRedis) {
  if (runningRedis) return;
  const provided = await provideRedis(process.env, say);
  if ('problem' in provided) throw new SetupProblem(provided.problem);
  process.env.PARAPH_REDIS_SERVER = provided.command;
}

/** The file of an installed package: tools are started as files, which saves npx's half second. */
export function tool(/** @type {string} */ path) {
  return join(project, 'node_modules', ...path.split('/'));
}

/**
 * Keeps a second set-up, in another terminal, from deleting node_modules or dist under the hands of
 * the first. A symbolic link is created and filled in one step. Advisory and simple: when two find
 * a dead holder's link at the same moment, both may work, and one of them may fail and has to be
 * started again.
 *
 * @param {() => Promise<void>} work
 */
async function exclusively(work) {
  const lock = join(project, '.cache', 'setup.lock');
  mkdirSync(join(project, '.cache'), { recursive: true });
  for (let announced = false; !createLink(String(process.pid), lock); ) {
    const holder = readLink(lock);
    if (holder !== undefined && !isAlive(Number(holder))) rmSync(lock, { force: true });
    else if (!announced)
      say(`waiting for the set-up that process ${holder} does in this folder (${lock})`);
    announced = true;
    await delay(100);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function createLink(/** @type {string} */ target, /** @type {string} */ path) {
  try {
    symlinkSync(target, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLink(/** @type {string} */ path) {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isAlive(/** @type {number} */ pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readOr(/** @type {string} */ file, /** @type {string} */ otherwise) {
  return existsSync(file) ? readFileSync(file, 'utf8') : otherwise;
}
