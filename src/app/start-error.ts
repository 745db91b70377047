/** Why a start failed: one sentence that names the variable or the configuration key. */
import { getSystemErrorMap } from 'node:util';
import { toError } from '../../packages/engine/src/redis/to-error.ts';

export class StartError extends Error {
  /** The outcome for the command line, which decides the exit code. */
  readonly outcome: 'usage' | 'unreachable' | 'refused';
  constructor(outcome: StartError['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** The reason from the operating system, without a path: `EACCES, permission denied`. */
export const reasonOf = (error: unknown): string => {
  const [code, words] = getSystemErrorMap().get((error as NodeJS.ErrnoException).errno ?? 0) ?? [];
  return code === undefined ? toError(error).message : `${code}, ${words}`;
};
