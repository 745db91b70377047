/**
 * A proof that the client holds a key (DPoP); request and tokens are bound to the key's thumbprint.
 * The caller checks whether the proof was used before.
 *
 * Source: RFC 9449 4.2, 4.3 and 10.1.
 */
import { calculateJwkThumbprint, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose';
import { type Outcome, refuse } from './refusal.ts';

export interface DpopProof {
  /** RFC 7638, SHA-256 in base64url. */
  readonly thumbprint: string;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly rememberUntil: number;
}

/** Also at the library's endpoints. */
export const dpopAlgorithms = ['ES256', 'EdDSA', 'Ed25519'] as const;
const maxAgeSeconds = 300;
const maxAheadSeconds = 60;

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
  url: string,
  nowSeconds: number,
): Outcome<DpopProof> => {
  const isComplete = typeof jti === 'string' && jti !== '' && typeof iat === 'number';
  if (!isComplete || typeof htm !== 'string' || typeof htu !== 'string' || nonce !== undefined) {
    return refuse({ reason: 'proofClaims' });
  }
  if (htm !== 'POST') return refuse({ reason: 'proofHtm' });
  if (!isSameAddress(htu, url)) return refuse({ reason: 'proofHtu' });
  if (iat < nowSeconds - maxAgeSeconds || iat > nowSeconds + maxAheadSeconds)
    return refuse({ reason: 'proofIat' });
  return { value: { thumbprint, jti, rememberUntil: iat + maxAgeSeconds } };
};

/** @param url Configured address of the endpoint that got the proof. */
export const readProof = async (proof: string, url: string, nowMs: number): Promise<Outcome<DpopProof>> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...dpopAlgorithms],
      typ: 'dpop+jwt',
      currentDate: new Date(nowMs),
    });
    const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? { kty: '' });
    return checkClaims(payload, thumbprint, url, nowMs / 1000);
  } catch {
    return refuse({ reason: 'proofMalformed' });
  }
};
