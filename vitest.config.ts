/**
 * How the tests run: files in parallel, in processes that take one file after another, one private Redis for all of them.
 * Tests that start the product start the compiled one, which `npm test` brings up to date first.
 *
 * `unit` is everything that needs no browser; `browser` exists only where there is a Chromium, so that a machine without
 * one has green tests and no skipped ones. `npm test` says which case it is, and leaves out the other projects. `quick` is
 * `unit` without the files that wait for most of their time.
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findChromium } from './scripts/chromium.mjs';
import { createSummaryReporter } from './test/support/summary-reporter.ts';

const chromium = findChromium();

/** They wait for most of their time: for whole services that they start and kill, for times to be over. Longest first. */
const longest = [
  'product/process',
  'product/clocks',
  'docs/commands',
  'docs/tutorial',
  'oauth/backchannel/ping',
  'oauth/rotation',
  'workers/hanging-gateway',
  'overload/overload',
  'oauth/restart',
  'product/shutdown',
  'product/npm-start',
  'product/silent-redis',
  'product/rolling-upgrade',
  'operators/bulk-crash',
  'engine/crashes',
  'product/redis-rights',
  'product/outage',
  'product/cluster',
  'workers/signature.worker',
  'transactions/standstill',
  'product/silent-cluster',
  'oauth/races',
  'oauth/tokens',
  'queue/fairness',
  'browser/console.browser',
  'browser/demo.browser',
  'browser/login-pages.browser',
  'browser/task-pages.browser',
].map((name) => `/test/${name}.test.ts`);

/**
 * Between those that wait come two each of the others, which compute: side by side they keep the cores busy, and one after
 * the other they do not. On a fresh clone nobody knows yet how long a file takes, and vitest begins with the largest.
 */
class LongestBetween extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = longest.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    const others = sorted.filter((file) => !waiting.includes(file));
    return [
      ...waiting.flatMap((file, index) => [file, ...others.slice(index * 2, index * 2 + 2)]),
      ...others.slice(waiting.length * 2),
    ];
  }
}

const unit = {
  test: {
    name: 'unit',
    include: ['test/**/*.test.ts', 'parts/*/test/**/*.test.ts'],
    exclude: [
      ...['test/browser/**', 'test/packages/**', 'test/interop/**'],
      ...['test/faults/mutants.test.ts', 'test/faults/gateway-chain.test.ts'],
    ],
    // For tests that hang. A machine that others use may take several times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // A process for each file spends more time on loading the same modules than on most files' tests. It also shows whoever
    // leaves something behind: the next file finds it.
    isolate: false,
  },
};
/** For whoever cannot wait. */
const quick = {
  test: {
    ...unit.test,
    name: 'quick',
    exclude: [...unit.test.exclude, ...longest.map((path) => `**${path}`)],
  },
};
/**
 * What `.ci/run` repeats on another Node: the rooms that use it themselves (sockets, TLS, keys, compression, files, terminals,
 * processes), foreign OpenID clients over real sockets, and whole services, which run everything else.
 */
const otherNode = {
  test: {
    ...unit.test,
    name: 'other-node',
    include: [
      'test/{backup,client,configuration,embedded,evidence,http,mail,phone,pki,protocol}/**/*.test.ts',
      'test/{outgoing,redis,registry,relying-party,sscd,telemetry}/**/*.test.ts',
      'parts/{callbacks,gateway}/test/*.test.ts',
      'test/cli/{evidence,hash-password,network,screen,sign}.test.ts',
      'test/oauth/{client-authentication,sealed-store,signing-keys}.test.ts',
      'test/oauth/interoperability/*.test.ts',
      'test/product/{certificates,npm-start,process,shutdown}.test.ts',
    ],
  },
};
/** Run by `.ci/run`, and where they are asked for by name: whole services under faults take minutes. */
const mutants = {
  test: { name: 'mutants', include: ['test/faults/{mutants,gateway-chain}.test.ts'], maxConcurrency: 2 },
};
/** They ask the npm registry. */
const packages = {
  test: { name: 'packages', include: ['test/packages/**/*.test.ts'] },
};
/** `npm run interop`: programs of other registries. */
const interop = {
  test: {
    name: 'interop',
    include: ['test/interop/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
};
const browser = {
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    env: { CHROMIUM_PATH: chromium ?? '' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    // After the others, because a browser needs more than one core at times. The pages of the console look for news every four
    // or five seconds, and a file that waits for them leaves room for one more.
    sequence: { groupOrder: 1 },
    maxWorkers: availableParallelism() + 1,
    expect: { poll: { timeout: 20_000 } },
  },
};

export default defineConfig({
  test: {
    pool: 'forks',
    // More than half of what a file does is waiting: for another process, for a time to be over.
    maxWorkers: 2 * availableParallelism() + 1,
    sequence: { sequencer: LongestBetween },
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', createSummaryReporter((line) => process.stdout.write(`${line}\n`))],
    projects: [unit, ...(chromium ? [browser] : []), quick, otherNode, mutants, packages, interop],
  },
});
