import { isLoopbackHost } from '../../protocol/src/loopback.ts';
import { refuse } from './failure.ts';
import { createKeptFetch } from './kept-fetch.ts';
import { fetchKeySet, type KeyLookup, type VerificationKeys } from './key-set.ts';
import type { Fetch } from './read-json.ts';

/**
 * The keys of one provider, fetched when they are needed (kept-fetch.ts).
 *
 * Anyone can send a token with an unknown kid. Within the cool-down after a fetch it is refused at
 * once, so a new key may be seen one cool-down late.
 *
 * A set older than `maxAgeMs` is used and refreshed in the background. One that is twice as old is
 * refreshed before use, so that a withdrawn key is not accepted. When a refresh fails the old set
 * stays.
 *
 * Source: interface section 5.3, step 2; OpenID Connect Core 10.1.1.
 */
export interface JwksCache {
  /**
   * The key for a token with this kid and algorithm. Never rejects. `keys-unavailable` when the key
   * is not known and the last fetch failed.
   */
  find(kid: string, algorithm: string): Promise<KeyLookup>;
}

export interface JwksCacheOptions {
  /** `jwks_uri` of the provider: https, or http on a loopback address. */
  readonly jwksUri: string;
  /** Default the built-in one. Must end when its signal aborts. */
  readonly fetch?: Fetch;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Least time between the starts of two fetches. Default 5000. */
  readonly cooldownMs?: number;
  /** The timeout of one fetch, until the last byte. Default 5000. */
  readonly timeoutMs?: number;
  /** Age at which a set is refreshed. Default 600 000, ten minutes. */
  readonly maxAgeMs?: number;
}

const readAddress = (jwksUri: string): string => {
  if (!URL.canParse(jwksUri)) throw new TypeError('jwksUri must be a URL');
  const { protocol, hostname, username, password, href } = new URL(jwksUri);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackHost(hostname))) {
    throw new TypeError('jwksUri must be https, or http on a loopback address');
  }
  if (username !== '' || password !== '') throw new TypeError('jwksUri must not have credentials');
  return href;
};

const requireDuration = (name: string, value: number, least: number): void => {
  // Beyond this a timer of Node fires at once.
  if (!(value >= least && value <= 0x7fffffff)) {
    throw new TypeError(`${name} must be a number of milliseconds from ${least} to ${0x7fffffff}`);
  }
};

/** @throws TypeError for an option out of bounds; names the option only. Fetches nothing yet. */
export const createJwksCache = (options: JwksCacheOptions): JwksCache => {
  const { fetch = globalThis.fetch, now = Date.now } = options;
  const { cooldownMs = 5000, timeoutMs = 5000, maxAgeMs = 600_000 } = options;
  const address = readAddress(options.jwksUri);
  requireDuration('cooldownMs', cooldownMs, 0);
  requireDuration('timeoutMs', timeoutMs, 1);
  requireDuration('maxAgeMs', maxAgeMs, 1);

  const kept = createKeptFetch<VerificationKeys>({
    fetch: () => fetchKeySet(address, fetch, timeoutMs),
    now,
    cooldownMs,
  });

  return {
    find: async (kid, algorithm) => {
      const usable = kept.value()?.has(kid) === true && !kept.isOlderThan(2 * maxAgeMs);
      if (!usable) await kept.refresh();
      else if (kept.isOlderThan(maxAgeMs)) void kept.refresh();
      const keys = kept.value();
      const failure = kept.failure();
      if (failure !== undefined && keys?.has(kid) !== true) {
        return refuse(
          'keys-unavailable',
          `the keys of the provider could not be fetched: ${failure}`,
        );
      }
      return (
        keys?.find(kid, algorithm) ??
        refuse('keys-unavailable', 'the keys of the provider are not there yet')
      );
    },
  };
};
