/** How often one person is prompted because somebody has ordered a replay, by itself or in a bulk. */
import { createHash } from 'node:crypto';
import type { RateLimit, RateLimiter } from '../registry/rate-limiter.ts';

const promptsOfOne: RateLimit = { requests: 6, perSeconds: 60 };

/** For how long somebody with so many transactions is prompted at the least, seconds. */
export const secondsOfOne = (prompts: number): number =>
  (Math.max(0, prompts - promptsOfOne.requests) * promptsOfOne.perSeconds) / promptsOfOne.requests;

export interface PromptLimit {
  /** @returns False when the number has been prompted often enough just now. */
  take(msisdn: string): Promise<boolean>;
  /** Of a prompt that did not come to it. */
  putBack(msisdn: string): Promise<void>;
}

export const createPromptLimit = (limiter: RateLimiter): PromptLimit => {
  // Numbers do not belong into key names, which tools and logs of Redis show. The command line replays without the master key,
  // so there is none in the hash: whoever reads Redis finds the number in the job itself.
  const keyOf = (msisdn: string): string =>
    `replays:number:${createHash('sha256').update(msisdn).digest('hex')}`;
  return {
    take: (msisdn) => limiter.take(keyOf(msisdn), promptsOfOne),
    putBack: (msisdn) => limiter.putBack(keyOf(msisdn), promptsOfOne),
  };
};
