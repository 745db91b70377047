/**
 * A proof that the client holds a key (DPoP); request and tokens are bound to the key's thumbprint.
 * Checked here for all endpoints, before the library sees the request. The library would take a
 * proof dated five minutes ahead, and remember it for less time than it is valid.
 *
 * Source: RFC 9449 4.2, 4.3, 7.1 and 11.1.
 */
import { calculateJwkThumbprint, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose';
import { clockToleranceSeconds } from './client-jwt.ts';
import { type Outcome, refuse } from './par/refusal.ts';
import type { Tenant } from './tenant.ts';

export interface DpopProof {
  /** RFC 7638, SHA-256 in base64url. */
  readonly thumbprint: string;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly rememberUntil: number;
}

export const dpopAlgorithms = ['ES256', 'EdDSA', 'Ed25519'] as const;
const maxAgeSeconds = 300;

/** The method and address of the request that brought a proof. */
export interface ProvedRequest {
  readonly method: string;
  /** Configured address of the endpoint. */
  readonly url: string;
}

/** Query and fragment do not count. */
const isSameAddress = (given: string, url: string): boolean => {
  if (!URL.canParse(given)) return false;
  const address = new URL(given);
  address.search = '';
  address.hash = '';
  return address.href === new URL(url).href;
};

const checkClaims = (
  { jti, iat, htm, htu, nonce }: JWTPayload,
  thumbprint: string,
  { method, url }: ProvedRequest,
  nowSeconds: number,
): Outcome<DpopProof> => {
  const isComplete = typeof jti === 'string' && jti !== '' && typeof iat === 'number';
  if (!isComplete || typeof htm !== 'string' || typeof htu !== 'string' || nonce !== undefined) {
    return refuse({ reason: 'proofClaims' });
  }
  if (htm !== method) return refuse({ reason: 'proofHtm' });
  if (!isSameAddress(htu, url)) return refuse({ reason: 'proofHtu' });
  if (iat < nowSeconds - maxAgeSeconds || iat > nowSeconds + clockToleranceSeconds)
    return refuse({ reason: 'proofIat' });
  return { value: { thumbprint, jti, rememberUntil: iat + maxAgeSeconds } };
};

export const readProof = async (
  proof: string,
  request: ProvedRequest,
  nowMs: number,
): Promise<Outcome<DpopProof>> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...dpopAlgorithms],
      typ: 'dpop+jwt',
      currentDate: new Date(nowMs),
      clockTolerance: clockToleranceSeconds,
    });
    const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? { kty: '' });
    return checkClaims(payload, thumbprint, request, nowMs / 1000);
  } catch {
    return refuse({ reason: 'proofMalformed' });
  }
};

/** Whether a proof is used for the first time, at whatever endpoint. */
export const isFirstUse = (
  { store }: Pick<Tenant, 'store'>,
  { thumbprint, jti, rememberUntil }: DpopProof,
  nowMs: number,
): Promise<boolean> =>
  store.putOnce('dpop-proof', `${thumbprint} ${jti}`, 1, rememberUntil - nowMs / 1000 + 1);
