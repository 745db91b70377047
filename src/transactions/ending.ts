import type { StoredEnd } from '../engine/redis/job-home.ts';

/** How a job ended. */
export type Ending =
  | { readonly kind: 'completed'; readonly returnValue: unknown }
  | { readonly kind: 'failed'; readonly failedReason: string };

/** @returns Undefined while the job is open. */
export const endingOf = ({ finishedOn, failedReason, returnValue }: StoredEnd): Ending | undefined => {
  if (finishedOn === undefined) return undefined;
  return failedReason === undefined ? { kind: 'completed', returnValue } : { kind: 'failed', failedReason };
};
