/**
 * What a client is told at once when nobody is asked. Texts are fixed words: they name a parameter and never its value.
 *
 * Source: OpenID Connect CIBA section 13; 429 and 503 with Retry-After are RFC 6585 section 4 and RFC 9110 section 15.6.4.
 */
import { describeError, type ErrorCause } from '../error-codes.ts';
import type { LoginError } from '../interaction/fault-to-error.ts';
import { errors } from '../library.ts';

type LibraryError = InstanceType<typeof errors.OIDCProviderError>;

const kinds = {
  invalid_request: (text: string) => new errors.InvalidRequest(text),
  invalid_binding_message: (text: string) => new errors.InvalidBindingMessage(text),
  unauthorized_client: (text: string) => new errors.UnauthorizedClient(text),
  unknown_user_id: (text: string) => new errors.UnknownUserId(text),
} as const;

export const refusal = (error: keyof typeof kinds, cause: ErrorCause, text: string): LibraryError =>
  kinds[error](describeError(cause, text).description);

const withStatus = (error: LibraryError, status: number): LibraryError => {
  error.status = status;
  error.statusCode = status;
  return error;
};

/** Nobody can be asked, and asking again later would not help. */
export const denied = ({ error, description }: LoginError): LibraryError =>
  error === 'server_error'
    ? withStatus(new errors.CustomOIDCProviderError(error, description), 500)
    : withStatus(new errors.AccessDenied(description), 403);

/** @param status 429 when the caller asks too often, 503 when the service has no room. */
export const unavailable = (status: 429 | 503, text: string): LibraryError =>
  withStatus(new errors.TemporarilyUnavailable(describeError('otherRequest', text).description), status);
