/** Worker processes (crash-worker.ts) that are killed at commands that a seed chooses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The same numbers for the same seed, below the bound that is given. */
export const seededNumbers = (seed: number): ((below: number) => number) => {
  let random = seed;
  return (below) => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    return random % below;
  };
};

/** @returns When it works, or has been killed before that. */
export const startCrashWorker = async (
  file: string,
  given: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly isHeard: boolean },
): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [file, ...given], {
    stdio: ['ignore', 'pipe', options.isHeard ? 'inherit' : 'ignore'],
    env: { ...process.env, ...options.env },
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('The worker has no output');
  await Promise.race([once(stdout, 'data'), once(child, 'exit')]);
  return child;
};

export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
