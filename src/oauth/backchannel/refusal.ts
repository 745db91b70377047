/**
 * What a client is told at once when nobody is asked. Texts are fixed words: they name a parameter and never its value.
 *
 * Source: OpenID Connect CIBA section 13; 429 and 503 with Retry-After are RFC 6585 section 4 and RFC 9110 section 15.6.4.
 */
import { describeError, type ErrorCause } from '../error-codes.ts';
import { errors } from '../library.ts';
import type { LoginError } from '../login-failures.ts';

const failure = (error: string, description: string, status = 400): Error =>
  Object.assign(new errors.CustomOIDCProviderError(error, description), { status, statusCode: status });

export const refusal = (
  error: 'invalid_request' | 'invalid_binding_message' | 'unauthorized_client' | 'unknown_user_id',
  cause: ErrorCause,
  text: string,
): Error => failure(error, describeError(cause, text).description);

/** Nobody can be asked, and asking again later would not help. */
export const denied = ({ error, description }: LoginError): Error =>
  failure(error, description, error === 'server_error' ? 500 : 403);

/** @param status 429 when the caller asks too often, 503 when the service has no room. */
export const unavailable = (status: 429 | 503, text: string): Error =>
  failure('temporarily_unavailable', describeError('otherRequest', text).description, status);
