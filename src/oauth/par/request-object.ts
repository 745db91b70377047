/**
 * A signed request object (JAR): the client's parameters as claims. Nothing else of the form counts
 * but the client's identity. A JWT that the client has made for another purpose must not pass, so
 * `client_id` must be a claim and the type must fit.
 *
 * Source: RFC 9101 4, 6 and 10.8; RFC 9126 3.
 */
import { errors, type JWTPayload } from 'jose';
import type { Parameters } from '../../http/pages/form.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import { verifyClientJwt } from '../client-jwt.ts';
import { keptParameters } from './parameters.ts';
import { type Outcome, refuse } from './refusal.ts';

const types: ReadonlySet<string | undefined> = new Set([
  undefined,
  'jwt',
  'oauth-authz-req+jwt',
  'application/oauth-authz-req+jwt',
]);

/** The client writes all of the object, so every error is the client's. */
const findReason = (error: unknown) => {
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return 'objectAlgorithm';
  if (error instanceof errors.JWTExpired) return 'objectTime';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'objectAudience';
    return error.claim === 'iss' ? 'objectClient' : 'objectTime';
  }
  const isUnsigned =
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey;
  return isUnsigned ? 'objectSignature' : 'objectMalformed';
};

const parametersIn = (claims: JWTPayload): Outcome<Parameters> => {
  const parameters = new Map<string, string>();
  for (const name of [...keptParameters, 'registration']) {
    if (!Object.hasOwn(claims, name)) continue;
    const value = claims[name];
    if (!['string', 'number', 'boolean'].includes(typeof value))
      return refuse({ reason: 'objectContents' });
    if (value !== '') parameters.set(name, String(value));
  }
  return { value: parameters };
};

export const readRequestObject = async (
  jwt: string,
  client: OauthClient,
  issuer: string,
  nowMs: number,
): Promise<Outcome<Parameters>> => {
  try {
    const expected = { client, audience: [issuer] };
    const { payload, protectedHeader } = await verifyClientJwt(jwt, expected, nowMs);
    if (!types.has(protectedHeader.typ?.toLowerCase())) return refuse({ reason: 'objectType' });
    if (payload.client_id !== client.id) return refuse({ reason: 'objectClient' });
    if ('request' in payload || 'request_uri' in payload) return refuse({ reason: 'objectNested' });
    return parametersIn(payload);
  } catch (error) {
    return refuse({ reason: findReason(error) });
  }
};
