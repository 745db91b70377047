/**
 * How the tests run: every file in a process of its own, files in parallel, one private Redis for all of them.
 *
 * `unit` is everything that needs no browser; `browser` exists only where there is a Chromium, so that a machine without
 * one has green tests and no skipped ones. `npm test` says which case it is.
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findChromium } from './scripts/chromium.mjs';
import { createSummaryReporter } from './test/support/summary-reporter.ts';

const chromium = findChromium();

const unit = {
  test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/browser/**'], testTimeout: 15_000 },
};
const browser = {
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    env: { CHROMIUM_PATH: chromium ?? '' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Browsers are heavy: two files at once on two cores only make each other late.
    fileParallelism: false,
  },
};

export default defineConfig({
  test: {
    pool: 'forks',
    // By itself vitest leaves a core to its watcher, and half of this run is waiting anyway.
    maxWorkers: Math.max(2, availableParallelism()),
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', createSummaryReporter((line) => process.stdout.write(`${line}\n`))],
    projects: chromium ? [unit, browser] : [unit],
  },
});
