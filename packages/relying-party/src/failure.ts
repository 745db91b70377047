/**
 * Why an ID token is refused, in the order of the checks. Up to `bad-signature` nothing is proven:
 * the sender of the token can choose the reason, so log it but do not act on it. From
 * `nonce-missing` on the signature was good.
 */
export const idTokenFailures = [
  'malformed',
  'too-long',
  'encrypted',
  'malformed-header',
  'wrong-type',
  'critical-extension',
  'algorithm-not-allowed',
  'key-id-missing',
  'malformed-claims',
  'claim-missing',
  'claim-malformed',
  'issuer-mismatch',
  'audience-mismatch',
  'audience-untrusted',
  'authorized-party-missing',
  'authorized-party-mismatch',
  'issued-in-future',
  'not-yet-valid',
  'expired',
  'key-unknown',
  'key-unsuitable',
  'keys-unavailable',
  'bad-signature',
  'nonce-missing',
  'nonce-mismatch',
  'nonce-unexpected',
  'subject-mismatch',
  'access-token-hash-missing',
  'access-token-hash-mismatch',
  'authentication-time-missing',
  'authentication-too-old',
  'acr-missing',
  'acr-not-accepted',
] as const;

export type IdTokenFailure = (typeof idTokenFailures)[number];

export type KeyFailure = Extract<
  IdTokenFailure,
  'key-unknown' | 'key-unsuitable' | 'keys-unavailable'
>;

/** `detail` is a sentence for a log. It names fields and never holds a value. */
export interface IdTokenRefusal<Reason extends IdTokenFailure = IdTokenFailure> {
  readonly ok: false;
  readonly reason: Reason;
  readonly detail: string;
}

export const refuse = <Reason extends IdTokenFailure>(
  reason: Reason,
  detail: string,
): IdTokenRefusal<Reason> => ({
  ok: false,
  reason,
  detail,
});
