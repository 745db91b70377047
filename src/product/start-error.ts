/** Why a start failed: one sentence that names the variable or the configuration key. */
import { getSystemErrorMap } from 'node:util';
import { toError } from '../redis/to-error.ts';

export class StartError extends Error {
  /** As the command line has it: which exit code the process ends with. */
  readonly outcome: 'usage' | 'unreachable';
  constructor(outcome: StartError['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** `EACCES, permission denied`: what the operating system said, without a path. */
export const reasonOf = (error: unknown): string => {
  const [code, words] = getSystemErrorMap().get((error as NodeJS.ErrnoException).errno ?? 0) ?? [];
  return code === undefined ? toError(error).message : `${code}, ${words}`;
};

/** @throws StartError for whatever the work throws: the environment or a file named in it is at fault. */
export const blaming = async <T>(
  sentence: (error: Error) => string,
  work: () => T | Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new StartError('usage', sentence(toError(error)));
  }
};
