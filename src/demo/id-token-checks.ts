/**
 * The checks of an ID token one by one. The library stops at the first that fails, and makes them in this order, so its
 * one reason says how all of them went.
 */
import type { IdTokenFailure, IdTokenResult } from '../relying-party/index.ts';

const checks = {
  form: 'It has three parts of strict base64url, and its header is JSON.',
  type: 'It is an ID token, and no other kind of token from the same key.',
  algorithm: 'It is signed with RS256, as this client expects.',
  keyId: 'Its header names the key (`kid`).',
  claims: 'It has all the claims that it must have, each of the right type.',
  issuer: '`iss` is this provider.',
  audience: '`aud` is this client.',
  time: 'It is valid now: `iat` has passed, `exp` has not.',
  signature: 'The signature is that of the named key in the provider’s key set.',
  nonce: '`nonce` is the one that this browser’s request carried.',
  subject: '`sub` is that of no other person than expected.',
  accessToken: '`at_hash` is that of the access token that came along.',
  level: '`acr` and `auth_time` are as asked for.',
} as const;

type CheckName = keyof typeof checks;

const checkOf: Readonly<Record<IdTokenFailure, CheckName>> = {
  malformed: 'form',
  'too-long': 'form',
  encrypted: 'form',
  'malformed-header': 'form',
  'wrong-type': 'type',
  'critical-extension': 'type',
  'algorithm-not-allowed': 'algorithm',
  'key-id-missing': 'keyId',
  'malformed-claims': 'claims',
  'claim-missing': 'claims',
  'claim-malformed': 'claims',
  'issuer-mismatch': 'issuer',
  'audience-mismatch': 'audience',
  'audience-untrusted': 'audience',
  'authorized-party-missing': 'audience',
  'authorized-party-mismatch': 'audience',
  'issued-in-future': 'time',
  'not-yet-valid': 'time',
  expired: 'time',
  'key-unknown': 'signature',
  'key-unsuitable': 'signature',
  'keys-unavailable': 'signature',
  'bad-signature': 'signature',
  'nonce-missing': 'nonce',
  'nonce-mismatch': 'nonce',
  'nonce-unexpected': 'nonce',
  'subject-mismatch': 'subject',
  'access-token-hash-missing': 'accessToken',
  'access-token-hash-mismatch': 'accessToken',
  'authentication-time-missing': 'level',
  'authentication-too-old': 'level',
  'acr-missing': 'level',
  'acr-not-accepted': 'level',
};

export interface CheckRow {
  /** Backticks mean code. */
  readonly words: string;
  readonly verdict: 'passed' | 'failed' | 'not reached';
}

export const checkRows = (result: IdTokenResult): readonly CheckRow[] => {
  const failed = result.ok ? undefined : checkOf[result.reason];
  const names = Object.keys(checks) as CheckName[];
  const failedAt = failed === undefined ? names.length : names.indexOf(failed);
  return (
    names
      .map((name, index): CheckRow & { readonly name: CheckName } => {
        if (index < failedAt) return { name, words: checks[name], verdict: 'passed' };
        return { name, words: checks[name], verdict: index === failedAt ? 'failed' : 'not reached' };
      })
      // Whom to expect is known after a first login only; then this is the check of a refreshed token.
      .filter(({ name }) => name !== 'subject')
  );
};
