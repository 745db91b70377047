/**
 * How the tests run: files in parallel, in processes that take one file after another, one private
 * Redis for all of them. Tests that start the product start the compiled one, which `npm test`
 * brings up to date first.
 *
 * The name of a file says which command runs it, so that no list has to be kept
 * (`test/test-kinds.test.ts` holds the rule):
 *
 * `*.test.ts`          project `unit`, run by `npm test`: units, and rooms together over a real Redis.
 * `*.e2e.test.ts`      project `e2e`, run by `npm run e2e`: whole processes, clusters, loads, whole services that wait.
 * `*.browser.test.ts`  project `browser`, run by `npm run e2e` as well. It exists only where there is a Chromium, so that a
 *                      machine without one has green tests and no skipped ones; `npm run e2e` says which case it is.
 * `*.interop.test.ts`  project `interop`, run by `npm run interop`, beside the files of test/interop.
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findChromium } from './scripts/chromium.mjs';
import { createSummaryReporter } from './test/support/summary-reporter.ts';

const chromium = findChromium();

/** What has a command or a project of its own. */
const elsewhere = [
  'test/packages/**',
  'test/interop/**',
  'test/faults/{mutants,quiet-mutants,gateway-chain}.test.ts',
];

const unit = {
  test: {
    name: 'unit',
    include: ['test/**/*.test.ts', '{packages,parts}/*/test/**/*.test.ts'],
    exclude: ['**/*.{e2e,browser,interop}.test.ts', ...elsewhere],
    // For tests that hang. A machine that others use may take several times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // A process for each file spends more time on loading the same modules than on most files'
    // tests. It also shows whoever leaves something behind: the next file finds it.
    isolate: false,
  },
};
const e2e = {
  test: {
    ...unit.test,
    name: 'e2e',
    include: ['test/**/*.e2e.test.ts', '{packages,parts}/*/test/**/*.e2e.test.ts'],
    exclude: elsewhere,
  },
};
/**
 * What `.ci/run` repeats on another Node: the rooms that use it themselves (sockets, TLS, keys,
 * compression, files, terminals, processes), foreign OpenID clients over real sockets, and whole
 * services, which run everything else.
 */
const otherNode = {
  test: {
    ...unit.test,
    name: 'other-node',
    exclude: ['**/*.browser.test.ts', ...elsewhere],
    include: [
      'packages/{client,pki,protocol,relying-party}/test/**/*.test.ts',
      'test/{http,redis,registry,sscd,telemetry}/**/*.test.ts',
      'test/app/configuration/*.test.ts',
      'parts/{backup,callbacks,certificates,gateway,phone}/test/*.test.ts',
      'parts/demo/test/clients.test.ts',
      'parts/pkcs11/test/key-place.test.ts',
      'parts/processes/test/evidence/*.test.ts',
      'parts/workflows/test/mail.test.ts',
      'test/cli/{hash-password,network,screen,sign}.test.ts',
      'test/oauth/{client-authentication,signing-keys}.test.ts',
      'test/oauth/interoperability/*.test.ts',
      'parts/ciba/test/endpoint.e2e.test.ts',
      'test/app/{npm-start,process,shutdown}.e2e.test.ts',
    ],
  },
};
/** Run by `.ci/run`, and where it is asked for by name: whole services under faults take minutes. */
const mutants = {
  test: {
    name: 'mutants',
    include: ['test/faults/{mutants,gateway-chain}.test.ts'],
    maxConcurrency: 2,
  },
};
/** Run where it is asked for by name, on a machine without other work. */
const quietMutants = {
  test: {
    name: 'quiet-mutants',
    include: ['test/faults/quiet-mutants.test.ts'],
    maxConcurrency: 2,
  },
};
/** They ask the npm registry. */
const packages = {
  test: { name: 'packages', include: ['test/packages/**/*.test.ts'] },
};
/** `npm run interop`: programs of other registries. */
const interop = {
  test: {
    name: 'interop',
    include: ['test/interop/**/*.test.ts', '{packages,parts}/*/test/**/*.interop.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
};
const browser = {
  test: {
    name: 'browser',
    include: ['test/**/*.browser.test.ts', '{packages,parts}/*/test/**/*.browser.test.ts'],
    env: { CHROMIUM_PATH: chromium ?? '' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    // After the others, because a browser needs more than one core at times. The pages of the
    // console look for news every four or five seconds, and a file that waits for them leaves room
    // for one more.
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
    // Keeps what modules compile to, by their content, for the next run.
    experimental: { fsModuleCache: true },
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', createSummaryReporter((line) => process.stdout.write(`${line}\n`))],
    projects: [
      unit,
      e2e,
      ...(chromium ? [browser] : []),
      otherNode,
      mutants,
      quietMutants,
      packages,
      interop,
    ],
  },
});
