/** Limits the prompts that replays send to one person. */
import { createHash } from 'node:crypto';
import type { RateLimit, RateLimiter } from '../../registry/rate-limiter.ts';

const promptsOfOne: RateLimit = { requests: 6, perSeconds: 60 };

/** The least time, in seconds, in which one person may get this number of prompts. */
export const secondsOfOne = (prompts: number): number =>
  (Math.max(0, prompts - promptsOfOne.requests) * promptsOfOne.perSeconds) / promptsOfOne.requests;

export const createPromptLimit = (limiter: RateLimiter) => {
  // A hash, because tools and logs of Redis show key names. It is not keyed, because the command
  // line replays without the master key, and a reader of Redis finds the number in the job anyway.
  const keyOf = (msisdn: string): string =>
    `replays:number:${createHash('sha256').update(msisdn).digest('hex')}`;
  return {
    /** @returns False when the number has been prompted too often just now. */
    take: (msisdn: string): Promise<boolean> => limiter.take(keyOf(msisdn), promptsOfOne),
    /** Gives back the room of a prompt that was not shown. */
    putBack: (msisdn: string): Promise<void> => limiter.putBack(keyOf(msisdn), promptsOfOne),
  };
};
