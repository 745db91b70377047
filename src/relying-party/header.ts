import { hashOfAlgorithm } from './algorithms.ts';
import { type Refusal, refuse } from './failure.ts';
import type { JsonObject } from './strict-json.ts';

/**
 * The header says which key and which algorithm, and both are only wishes: the algorithm must be one that the caller
 * expects, the key is looked up in the provider's set. Keys and addresses of keys in the header (`jwk`, `jku`, `x5c`,
 * `x5u`) are never looked at.
 *
 * Source: interface section 5.3; RFC 8725 3.1, 3.11; RFC 7515 4.1.11.
 */
export interface AcceptedHeader {
  readonly ok: true;
  readonly algorithm: string;
  readonly kid: string;
}

/**
 * Providers write `JWT` or nothing. Everything else is a token for another purpose: `at+jwt`, `logout+jwt`, `dpop+jwt`,
 * signed with the same keys and often for the same audience.
 */
const isTypeOfIdToken = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ));

export const checkHeader = (header: JsonObject, algorithms: readonly string[]): AcceptedHeader | Refusal => {
  const { typ, alg, kid } = header;
  if (!isTypeOfIdToken(typ)) return refuse('wrong-type', 'typ in the header is not that of an ID token');
  // No extension is understood here, and with `b64` the meaning of the payload would change.
  if ('crit' in header) return refuse('critical-extension', 'the header has crit');
  if (typeof alg !== 'string') return refuse('malformed-header', 'alg in the header is no string');
  if (!algorithms.includes(alg) || !hashOfAlgorithm.has(alg)) {
    return refuse('algorithm-not-allowed', 'alg in the header is none of the allowed algorithms');
  }
  if (kid === undefined) return refuse('key-id-missing', 'the header has no kid');
  if (typeof kid !== 'string' || kid === '') {
    return refuse('malformed-header', 'kid in the header is no string with content');
  }
  return { ok: true, algorithm: alg, kid };
};
