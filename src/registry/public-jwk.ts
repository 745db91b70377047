import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/**
 * A public key of a client (RFC 7517). A private or symmetric key is refused: many people can read
 * the configuration file, so such a key must be replaced.
 */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

const algorithmsOf: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['RSA', ['RS256', 'PS256']],
  ['EC', ['ES256']],
  ['OKP', ['EdDSA', 'Ed25519']],
]);

const keyOf = (jwk: Readonly<Record<string, unknown>>): KeyObject | undefined => {
  try {
    return createPublicKey({ format: 'jwk', key: { ...jwk } });
  } catch {
    return undefined;
  }
};

const isStrongEnough = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean => {
  switch (asymmetricKeyType) {
    case 'rsa':
      return (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
    case 'ec':
      return asymmetricKeyDetails?.namedCurve === 'prime256v1';
    default:
      return asymmetricKeyType === 'ed25519';
  }
};

/** The kept members. Others, such as certificates, are left out. */
const members = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e'];

const isOneOf = (value: unknown, allowed: readonly string[]): boolean =>
  value === undefined || (typeof value === 'string' && allowed.includes(value));

const isKid = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value));

const problemsOf = (
  jwk: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string])[] => {
  const secrets = secretMembers.filter((member) => Object.hasOwn(jwk, member));
  if (secrets.length > 0 || jwk.kty === 'oct') {
    const member = secrets[0] ?? 'kty';
    return [
      [
        member,
        'must not be here: only public keys belong into this file, and this one has to be replaced',
      ],
    ];
  }
  const algorithms = algorithmsOf.get(jwk.kty);
  if (algorithms === undefined) return [['kty', 'must be "RSA", "EC" or "OKP"']];
  if (!isKid(jwk.kid)) return [['kid', 'must be 1 to 128 visible ASCII characters']];
  if (!isOneOf(jwk.use, ['sig'])) return [['use', 'must be "sig"']];
  if (!isOneOf(jwk.alg, algorithms)) {
    return [
      [
        'alg',
        `must be one of ${[...algorithmsOf.values()].flat().join(', ')} and fit the type of the key`,
      ],
    ];
  }
  const key = keyOf(jwk);
  return key !== undefined && isStrongEnough(key)
    ? []
    : [['', 'must be an RSA key of 2048 bits or more, a P-256 key or an Ed25519 key']];
};

const publicJwk = z
  .record(z.string(), z.unknown())
  .superRefine((jwk, context) => {
    for (const [member, message] of problemsOf(jwk)) {
      context.addIssue({ code: 'custom', path: member === '' ? [] : [member], message });
    }
  })
  .transform(
    (jwk) =>
      Object.fromEntries(
        members.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
      ) as Readonly<Record<string, unknown>> & { readonly kty: string },
  );

/** The keys of a client. Several keys must have different `kid`, which tokens name. */
export const publicJwks = z
  .array(publicJwk)
  .max(20)
  .superRefine((keys, context) => {
    if (keys.length < 2) return;
    const seen = new Set<unknown>();
    for (const [index, { kid }] of keys.entries()) {
      if (kid === undefined || seen.has(kid)) {
        const message = 'must be there and differ between the keys of a client';
        context.addIssue({ code: 'custom', path: [index, 'kid'], message });
      }
      seen.add(kid);
    }
  });
