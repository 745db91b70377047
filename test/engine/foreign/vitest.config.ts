/** Runs the tests of a checkout of XState with the recorded XState instead of its source. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = fileURLToPath(new URL('.', import.meta.url));
const checkout = process.env.XSTATE_REPOSITORY ?? '';
const recorded = join(here, 'xstate-recorded.ts');
const unhandled = '\0report-unhandled-error';
const project = join(here, '../../..');

export default defineConfig({
  root: checkout,
  plugins: [
    {
      name: 'recorded-xstate',
      enforce: 'pre',
      resolveId(source, importer) {
        if (!importer?.startsWith(checkout)) return undefined;
        // Some tests mock it, and would mock all of XState.
        if (source.includes('reportUnhandledError')) return unhandled;
        if (/^(\.\.\/)+src(\/|$)/.test(source) || /^xstate($|\/)/.test(source)) return recorded;
        if (source === 'node:timers/promises') return join(here, 'timers.ts');
        return undefined;
      },
      load: (id) => (id === unhandled ? 'export const reportUnhandledError = () => undefined;' : undefined),
    },
  ],
  resolve: { alias: { vitest: join(project, 'node_modules/vitest/dist/index.js') } },
  test: {
    globals: true,
    include: ['packages/core/test/**/*.test.ts'],
    setupFiles: [join(here, 'runner.ts')],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: true,
    server: { deps: { inline: [/xstate-recorded/] } },
    typecheck: { enabled: false },
  },
});
