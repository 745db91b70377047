import type { JwksCache } from './jwks-cache.ts';
import { hashOfAlgorithm } from './token.ts';

export interface ValidateIdTokenOptions {
  /** The provider's issuer URL, compared character by character. */
  readonly issuer: string;
  readonly clientId: string;
  readonly jwks: JwksCache;
  /** The nonce of the authorisation request. Without it a token that has one is refused. */
  readonly nonce?: string | undefined;
  /** Accepts a token without nonce, as after a refresh. A nonce that is there must still match. */
  readonly nonceOptional?: boolean;
  /** The access token that came with the ID token, whose hash must be in it. */
  readonly accessToken?: string | undefined;
  /**
   * Accepts a token without `at_hash`, as the code flow allows. One that is there must still match.
   */
  readonly accessTokenHashOptional?: boolean;
  /** Default RS256. `none`, HS* and unknown algorithms are never accepted, even if listed. */
  readonly algorithms?: readonly string[];
  /** The most seconds that the clocks may differ, from 0 to 300. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** `max_age` of the request: the greatest age of the authentication. Requires `auth_time`. */
  readonly maxAgeSeconds?: number | undefined;
  /** The token must have one of these as `acr`. */
  readonly acrValues?: readonly string[] | undefined;
  /** Accepted as `azp` besides the client itself. */
  readonly authorizedParties?: readonly string[];
  /**
   * Audiences that a token may have besides the client. Undefined: any, if `azp` is right. An empty
   * list: none.
   */
  readonly trustedAudiences?: readonly string[] | undefined;
  /** The expected subject: after a refresh, or with `id_token_hint`. */
  readonly subject?: string | undefined;
}

export type Expectations = Readonly<ReturnType<typeof readParameters>>;

const maxToleranceSeconds = 300;

/** An empty text would equal a value that the caller forgot to fill in. */
export const requireText = (name: string, value: unknown): void => {
  if (typeof value !== 'string' || value === '')
    throw new TypeError(`${name} must be a string with content`);
};

const requireTexts = (name: string, value: readonly string[]): void => {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be an array of strings`);
  for (const each of value) requireText(name, each);
};

const requireSeconds = (name: string, value: number, most: number): void => {
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) {
    throw new TypeError(`${name} must be a number of seconds from 0 to ${most}`);
  }
};

/** @throws TypeError for options that no token could be checked with; names the option only. */
export const readParameters = (options: ValidateIdTokenOptions) => {
  const { algorithms = ['RS256'], clockToleranceSeconds = 5, now = Date.now } = options;
  const { issuer, clientId, nonce, accessToken, subject, maxAgeSeconds, acrValues } = options;
  const { authorizedParties = [], trustedAudiences } = options;
  for (const [name, value] of Object.entries({ issuer, clientId })) requireText(name, value);
  for (const [name, value] of Object.entries({ nonce, accessToken, subject })) {
    if (value !== undefined) requireText(name, value);
  }
  for (const [name, value] of Object.entries({
    algorithms,
    acrValues,
    authorizedParties,
    trustedAudiences,
  })) {
    if (value !== undefined) requireTexts(name, value);
  }
  if (!algorithms.some((name) => hashOfAlgorithm.has(name))) {
    throw new TypeError('algorithms must have at least one asymmetric signature algorithm');
  }
  if (acrValues?.length === 0) throw new TypeError('acrValues must not be empty');
  requireSeconds('clockToleranceSeconds', clockToleranceSeconds, maxToleranceSeconds);
  if (maxAgeSeconds !== undefined)
    requireSeconds('maxAgeSeconds', maxAgeSeconds, Number.MAX_SAFE_INTEGER);
  if (typeof options.jwks?.find !== 'function')
    throw new TypeError('jwks must be a cache of createJwksCache');
  const nowSeconds = now() / 1000;
  if (!Number.isFinite(nowSeconds))
    throw new TypeError('now must return milliseconds since the epoch');
  return {
    ...options,
    algorithms,
    toleranceSeconds: clockToleranceSeconds,
    nowSeconds,
    authorizedParties: [clientId, ...authorizedParties],
  };
};
