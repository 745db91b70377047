/**
 * A program of a test, in TypeScript, that is started again and again: it is compiled once, because
 * loading it by tsx costs every start most of a second.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Within the project, where the packages are found that it imports. */
const folder = join(import.meta.dirname, '../../.cache/programs');

/** @returns The path of a program for `node`. */
export const compileProgram = async (source: URL): Promise<string> => {
  const file = fileURLToPath(source);
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    packages: 'external',
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${basename(file, '.ts')}.mjs`);
  // Other files of tests may start the same program at this moment.
  writeFileSync(`${path}.${process.pid}`, outputFiles[0]?.contents ?? '');
  renameSync(`${path}.${process.pid}`, path);
  return path;
};
