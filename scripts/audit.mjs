/**
 * `node scripts/audit.mjs [folder]`: checks the packages of a folder's lock file.
 *
 * Without a network: origin, checksums, install scripts, licences, pinned versions. Known
 * vulnerabilities are asked of the registry; where it does not answer, this says so and passes,
 * unless `--registry` demands an answer: `npm run check` has to work without a network, but an
 * audit without the registry is not clean.
 */
import './node-version.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from './run.mjs';

const registry = 'https://registry.npmjs.org/';

/** Install scripts run with the user's rights. These two choose a binary. */
const knownInstallScripts = ['esbuild', 'msgpackr-extract'];

const licences = [
  'MIT',
  'MIT-0',
  'MIT OR Apache-2.0',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  '0BSD',
  'Unlicense',
];
/** Of tools that are never handed on with the product. */
const licencesOfTools = [
  ...licences,
  'MPL-2.0',
  'EPL-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  '(MIT OR CC0-1.0)',
  'CC-BY-4.0',
  'Python-2.0',
];

/** What the product is made of, and what checks its sources. */
const pinned = [
  ...['@hono/node-server', 'bullmq', 'hono', 'ioredis', 'jose', 'xstate', 'zod'],
  ...['@biomejs/biome', 'fast-check', 'typescript', 'vitest'],
];

/**
 * @typedef {{ dependencies?: Record<string, string>, devDependencies?: Record<string, string> }}
 *   Manifest
 * @typedef {Manifest & { version?: string, resolved?: string, integrity?: string, license?: string,
 *   link?: boolean, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?:
 *   string[], hasInstallScript?: boolean, }} Package
 * @typedef {{ lockfileVersion?: number, packages?: Record<string, Package> }} Lock
 */

/** @param {string} path `node_modules/a/node_modules/@b/c` */
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * A binary for another platform, which could not be fetched here. The lock file lists it without a
 * checksum, because `npm ci` refuses a list that is not complete.
 */
const isForeignBinary = (/** @type {Package} */ entry) =>
  entry.optional === true &&
  entry.os !== undefined &&
  !(
    entry.os.includes(process.platform) &&
    entry.cpu?.includes(process.arch) &&
    !entry.libc?.includes('musl')
  ) &&
  entry.integrity === undefined;

const isExact = (/** @type {string} */ range) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range);
const isRange = (/** @type {string} */ range) => /^[\^~]?\d+(\.\d+){0,2}(-[\w.]+)?$/.test(range);

/** @returns {string[]} What is wrong with one package. */
function problemsOfPackage(/** @type {string} */ path, /** @type {Package} */ entry) {
  const name = nameOf(path);
  const problems = [];
  if (entry.link) return [`${name} is a link and no package`];
  if (entry.resolved !== undefined && !entry.resolved.startsWith(registry))
    problems.push(`${name} does not come from ${registry}`);
  if (
    entry.integrity === undefined ? !isForeignBinary(entry) : !entry.integrity.startsWith('sha512-')
  )
    problems.push(`${name} has no SHA-512 checksum`);
  if (entry.hasInstallScript && !knownInstallScripts.includes(name))
    problems.push(`${name} runs a script when it is installed`);
  const allowed = entry.dev ? licencesOfTools : licences;
  if (!isForeignBinary(entry) && !allowed.includes(entry.license ?? ''))
    problems.push(`${name} has the licence ${entry.license ?? 'unknown'}`);
  return problems;
}

/**
 * What a manifest and its lock file say that they should not.
 *
 * @param {Manifest} manifest
 * @param {Lock} lock
 * @returns {{ problems: string[], packages: number, withoutChecksum: string[] }} `withoutChecksum`
 *   are binaries for other platforms: where they are installed, the registry is trusted as it is
 *   reached.
 */
export function auditLock(manifest, lock) {
  const { '': root, ...packages } = lock.packages ?? {};
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  const locked = { ...root?.dependencies, ...root?.devDependencies };
  const entries = Object.entries(packages);
  const problems = entries.flatMap(([path, entry]) => problemsOfPackage(path, entry));
  if (lock.lockfileVersion !== 3) problems.push('the lock file is not of version 3');
  for (const [name, range] of Object.entries(wanted)) {
    if (!isRange(range)) problems.push(`${name} is asked for as ${range}, which is no version`);
    if (pinned.includes(name) && !isExact(range))
      problems.push(`${name} is not pinned to one version`);
    if (locked[name] !== range) problems.push(`${name} is not locked as package.json asks for it`);
    if (packages[`node_modules/${name}`] === undefined)
      problems.push(`${name} is not in the lock file`);
  }
  const withoutChecksum = entries
    .filter(([, entry]) => isForeignBinary(entry))
    .map(([path]) => nameOf(path));
  return { problems, packages: entries.length, withoutChecksum };
}

/**
 * Reads what `npm audit --json` printed.
 *
 * @param {string} output
 * @returns {{ kind: 'answered', problems: string[] } | { kind: 'silent', why: string }}
 */
export function readAdvisories(output) {
  const start = output.indexOf('{');
  /** @type {any} */
  let report;
  try {
    report = JSON.parse(output.slice(start, output.lastIndexOf('}') + 1));
  } catch {
    return { kind: 'silent', why: 'npm audit printed no report' };
  }
  const counts = report.metadata?.vulnerabilities;
  if (counts === undefined)
    return { kind: 'silent', why: String(report.message ?? 'npm audit failed') };
  const problems = Object.values(report.vulnerabilities ?? {})
    .filter((/** @type {any} */ { severity }) => severity === 'high' || severity === 'critical')
    .map(
      (/** @type {any} */ { name, severity }) => `${name} has a known vulnerability (${severity})`,
    );
  return { kind: 'answered', problems };
}

/** Asks the registry about what is handed on with the product. */
async function askRegistry(/** @type {string} */ folder) {
  const runner = process.env.npm_execpath;
  const [command, ...leading] = runner?.endsWith('npm-cli.js')
    ? [process.execPath, runner]
    : ['npm'];
  const question = ['audit', '--omit=dev', '--audit-level=high', '--json', '--package-lock-only'];
  const timeouts = ['--fetch-retries=0', '--fetch-timeout=20000', '--loglevel=silent'];
  const { output } = await run(command, [...leading, ...question, ...timeouts], {
    cwd: folder,
    output: 'kept',
  });
  return readAdvisories(output);
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { registry: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const folder = positionals[0] ?? fileURLToPath(new URL('..', import.meta.url));
  const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const { problems, packages, withoutChecksum } = auditLock(
    read('package.json'),
    read('package-lock.json'),
  );
  const say = (/** @type {string} */ line) => process.stderr.write(`audit: ${line}\n`);
  say(
    `${packages} packages in the lock file, ${withoutChecksum.length} of them binaries without checksum`,
  );
  const advisories = await askRegistry(folder);
  if (advisories.kind === 'answered') problems.push(...advisories.problems);
  else {
    say(`NOT CHECKED for known vulnerabilities: the registry did not answer (${advisories.why})`);
    if (values.registry) problems.push('the registry was to be asked and did not answer');
  }
  for (const problem of problems) say(problem);
  if (problems.length > 0) process.exitCode = 1;
  else if (advisories.kind === 'answered') say('no known vulnerability of high severity');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
