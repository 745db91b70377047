/**
 * Compiles files of a checkout for kills.ts: with the collected XState, timers that
 * `globalThis.foreign` has, and packages that do nothing where the checkout lacks them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const nothing = [
  'const anything = new Proxy(function () {}, {',
  "  get: (_, name) => (name === 'then' || typeof name === 'symbol' ? undefined : anything),",
  '  apply: () => anything,',
  '  construct: () => anything,',
  '});',
  'module.exports = anything;',
].join('\n');

const isThere = (source: string, folder: string): boolean => {
  try {
    createRequire(join(folder, 'file.js')).resolve(source);
    return true;
  } catch {
    return false;
  }
};

/** What a chart's file may import. */
const foreignPackages = (xstate: string, here: string): Plugin => ({
  name: 'foreign-packages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^xstate($|\/)/ }, () => ({ path: xstate, external: true }));
    onResolve({ filter: /^paraph\/workflow$/ }, () => ({ path: join(here, 'plain-workflow.ts') }));
    onResolve({ filter: /^@restatedev\// }, () => ({ path: join(here, 'restate.ts') }));
    onResolve({ filter: /^[^./]/ }, ({ path, resolveDir, kind }) =>
      kind === 'entry-point' || isBuiltin(path) || isThere(path, resolveDir)
        ? undefined
        : { path, namespace: 'nothing' },
    );
    onResolve({ filter: /xstate-recorded\.ts$/ }, () => ({ path: xstate, external: true }));
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: nothing, loader: 'js' }));
  },
});

const timers = Object.fromEntries(
  [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'Math.random',
    'console',
    'fetch',
  ].map((name) => [name, `foreign.${name.replace('Math.', '')}`]),
);

const common = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'error',
} as const;

/** @returns The collected XState as it is to be imported. */
export const compileXState = async (here: string, folder: string): Promise<string> => {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'xstate.mjs');
  await build({
    ...common,
    entryPoints: [join(here, 'xstate-collected.ts')],
    outfile,
    packages: 'external',
  });
  return outfile;
};

/** @returns Undefined for a file that cannot be compiled alone. */
export const compileChart = async (
  file: string,
  options: { readonly xstate: string; readonly here: string; readonly outfile: string },
): Promise<string | undefined> => {
  const { xstate, here, outfile } = options;
  try {
    await build({
      ...common,
      entryPoints: [file],
      outfile,
      define: timers,
      plugins: [foreignPackages(xstate, here)],
    });
    return outfile;
  } catch (error) {
    writeFileSync(`${outfile}.error`, String(error));
    return undefined;
  }
};
