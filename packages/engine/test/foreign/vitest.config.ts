/** Runs tests or examples of a checkout with the recorded XState instead of its source. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = fileURLToPath(new URL('.', import.meta.url));
const checkout = process.env.FOREIGN_CHECKOUT ?? '';
const recorded = join(here, 'xstate-recorded.ts');
const unhandled = '\0report-unhandled-error';
const noFiles = '\0no-files:';
const missing = '\0missing-package:';

const isThere = (source: string, importer: string): boolean => {
  try {
    createRequire(importer).resolve(source);
    return true;
  } catch {
    return false;
  }
};

const namesOf = (id: string): readonly string[] => id.slice(id.indexOf(':') + 1).split(',');
const namesIn = (importer: string): readonly string[] =>
  [...readFileSync(importer, 'utf8').matchAll(/^import[^;]*?\{([^}]*)\}\s*from/gm)].flatMap(
    ([, list = '']) => list.split(',').map((each) => each.trim().split(/\s/, 1)[0] ?? ''),
  );

/**
 * A package that the checkout lacks: whatever is asked of it can be called and read, and does
 * nothing. There are no files either: how long reading takes is no matter of the simulated time.
 */
const missingModule = (answer: string, names: readonly string[]): string =>
  [
    'const anything = new Proxy(function () {}, {',
    "  get: (_, name) => (name === 'then' || typeof name === 'symbol' ? undefined : anything),",
    `  apply: () => ${answer},`,
    '  construct: () => anything,',
    '});',
    'export default anything;',
    ...[...new Set(names)]
      .filter((name) => /^\w+$/.test(name) && name !== 'default')
      .map((name) => `const ${name}_ = anything; export { ${name}_ as ${name} };`),
  ].join('\n');

export default defineConfig({
  root: checkout,
  plugins: [
    {
      name: 'recorded-xstate',
      enforce: 'pre',
      resolveId(source, importer = '') {
        if (!importer.startsWith(checkout)) return undefined;
        // Some tests mock it, and would mock all of XState.
        if (source.includes('reportUnhandledError')) return unhandled;
        if (/^(\.\.\/)+src(\/|$)/.test(source) || /^xstate($|\/)/.test(source)) return recorded;
        if (source === 'node:timers/promises') return join(here, 'timers.ts');
        if (source === 'vitest') return join(here, 'vitest-recorded.ts');
        if (source.startsWith('@restatedev/')) return join(here, 'restate.ts');
        const [file = '', load] = importer.split('?');
        if (process.env.FOREIGN_EXAMPLES === undefined) return undefined;
        if (source === 'no-files') return `${noFiles}${namesIn(file).join(',')}`;
        if (!/^[./]/.test(source)) {
          return isThere(source, file) ? undefined : `${missing}${namesIn(file).join(',')}`;
        }
        if (load === undefined || source.includes('?')) return undefined;
        const path = join(file, '..', source).replace(/\.js$/, '');
        const found = ['', '.ts', '.tsx', '/index.ts', '/index.tsx']
          .map((end) => path + end)
          .find((each) => /\.tsx?$/.test(each) && existsSync(each));
        return found && `${found}?${load}`;
      },
      // Vite asks no plugin for what Node.js has itself.
      transform: (code, id) =>
        process.env.FOREIGN_EXAMPLES === undefined || !id.startsWith(checkout)
          ? undefined
          : code
              .replace(/ from (['"])(node:)?fs(\/promises)?\1/g, " from 'no-files'")
              .replace(/\* as (\w+) from (?!['"]xstate|['"]\.)/g, '$1 from '),
      load: (id) => {
        if (id.startsWith(noFiles))
          return missingModule("Promise.reject(new Error('no such file'))", namesOf(id));
        if (id.startsWith(missing)) return missingModule('anything', namesOf(id));
        return id === unhandled
          ? 'export const reportUnhandledError = () => undefined;'
          : undefined;
      },
    },
  ],
  test: {
    globals: true,
    dir: process.env.FOREIGN_EXAMPLES === undefined ? checkout : here,
    include: [process.env.FOREIGN_INCLUDE ?? ''],
    setupFiles: [join(here, 'runner.ts')],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: true,
    server: { deps: { inline: [/xstate-recorded/, /foreign\//] } },
    typecheck: { enabled: false },
  },
});
