/** Commands that a test runs to their end. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

/**
 * @param env Default: that of the test.
 * @returns What it has written to its standard output.
 * @throws With all that it has written, when it fails.
 */
export const run = (
  cwd: string,
  [command, ...words]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = process.env,
): string => {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
};

/**
 * Compiles a TypeScript project with the compiler of this one.
 *
 * @param options Of the compiler.
 * @throws With its errors.
 */
export const compile = (
  cwd: string,
  configuration = 'tsconfig.json',
  env?: NodeJS.ProcessEnv,
  options: readonly string[] = [],
): string => run(cwd, [process.execPath, compiler, '-p', configuration, ...options], env);
