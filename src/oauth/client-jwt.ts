/**
 * One rule for everything that a client signs with a registered key: assertions, request objects.
 * Keys, algorithms and clocks are judged here, and nowhere else.
 *
 * Which clients exist must not show in the time that a refusal takes. So each JWT with a known
 * algorithm costs one verification: without a key that fits, it is verified under a decoy.
 *
 * Sources: RFC 7515, RFC 7523 3; FAPI 2.0 Security Profile 5.3.2.1 for the clocks.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { type OauthClient, signingAlgorithms } from '../registry/oauth-client.ts';

/**
 * The most seconds that a client's clock may be wrong, at every endpoint and for every kind of JWT.
 * FAPI 2.0 accepts `iat` and `nbf` that are 10 seconds ahead, and refuses those 60 seconds ahead.
 * Hosts without a time service are often off by more than 10 seconds.
 */
export const clockToleranceSeconds = 60;

/** A key that verifies nothing: any odd number of 2048 bits costs what a modulus costs. */
const rsaDecoy = (): KeyObject => {
  const modulus = randomBytes(256);
  modulus[0] = 0xff;
  modulus[255] = 0xff;
  return createPublicKey({
    key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' },
    format: 'jwk',
  });
};

const decoyMakers: readonly (readonly [algorithm: RegExp, make: () => KeyObject])[] = [
  [/^[RP]S256$/, rsaDecoy],
  [/^ES256$/, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
  [/^Ed/, () => generateKeyPairSync('ed25519').publicKey],
];
const decoys = new Map<RegExp, KeyObject>();

const decoyFor = (algorithm: string): KeyObject => {
  const found = decoyMakers.find(([pattern]) => pattern.test(algorithm));
  if (found === undefined) throw new errors.JWKSNoMatchingKey();
  const [pattern, make] = found;
  const decoy = decoys.get(pattern) ?? make();
  decoys.set(pattern, decoy);
  return decoy;
};

type Keyed = Pick<OauthClient, 'keys'>;

const keySets = new WeakMap<Keyed, JWTVerifyGetKey>();

/**
 * The registered keys of a client. A key without a kid is the only one of its client, so the kid of
 * a token is ignored then.
 */
const keysOf = (client: Keyed): JWTVerifyGetKey => {
  const known = keySets.get(client);
  if (known !== undefined) return known;
  const select = createLocalJWKSet({ keys: client.keys.map((key) => ({ ...key })) });
  const areNamed = client.keys.some(({ kid }) => kid !== undefined);
  const keys: JWTVerifyGetKey = async (header, token) => {
    const { kid: _, ...unnamed } = header;
    try {
      return await select(areNamed ? header : unnamed, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return decoyFor(header.alg);
      throw error;
    }
  };
  keySets.set(client, keys);
  return keys;
};

const nobody: Keyed = { keys: [] };

export interface ExpectedJwt {
  /** Undefined for an unknown client: the result is an error, after the same work. */
  readonly client: OauthClient | undefined;
  /** One of them must be in `aud`. */
  readonly audience: readonly string[];
  readonly requiredClaims?: readonly string[];
}

/**
 * A token without `kid`, of a client with several keys of its kind: any of them may have signed.
 */
const verifyUnderEach = async (
  jwt: string,
  keys: AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  for await (const key of keys) {
    try {
      return await jwtVerify(jwt, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
};

/** @throws JOSEError for everything that is wrong with it: the client writes all of a JWT. */
export const verifyClientJwt = async (
  jwt: string,
  { client, audience, requiredClaims = [] }: ExpectedJwt,
  nowMs: number,
): Promise<JWTVerifyResult> => {
  const options: JWTVerifyOptions = {
    algorithms: [...signingAlgorithms],
    issuer: client?.id ?? '',
    audience: [...audience],
    requiredClaims: [...requiredClaims],
    currentDate: new Date(nowMs),
    clockTolerance: clockToleranceSeconds,
  };
  const verified = await jwtVerify(jwt, keysOf(client ?? nobody), options).catch(
    (error: unknown) => {
      if (error instanceof errors.JWKSMultipleMatchingKeys)
        return verifyUnderEach(jwt, error, options);
      throw error;
    },
  );
  const { payload } = verified;
  if (payload.iat !== undefined && payload.iat > nowMs / 1000 + clockToleranceSeconds) {
    throw new errors.JWTClaimValidationFailed(
      'iat is in the future',
      payload,
      'iat',
      'check_failed',
    );
  }
  return verified;
};
