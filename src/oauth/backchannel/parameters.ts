/**
 * What a backchannel request may say. Pure: no clock, no I/O.
 *
 * The library has looked at the signature, the client, its scopes and the required parameters before, and has left unknown scopes
 * out. A strict client is told of unknown acr values; for others they are left out, as at `/par`.
 *
 * Sources: OpenID Connect CIBA sections 7.1 and 13.
 */
import type { OauthClient } from '../../registry/oauth-client.ts';
import { describeError, type ErrorCause } from '../error-codes.ts';
import { errors, textIn } from '../library.ts';
import type { LoginError } from '../login-failures.ts';
import { parseJsonObject, parseLoginHint } from '../login-hint.ts';
import { checkDtbd, readAcrValues, unshowable } from '../par/parameters.ts';
import { errorForLibrary } from '../par/refusal.ts';

/**
 * What a client is told at once when nobody is asked. Texts are fixed words: they name a parameter and never its value.
 *
 * Source: OpenID Connect CIBA section 13; 429 and 503 with Retry-After are RFC 6585 section 4 and RFC 9110 section 15.6.4.
 */

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

/** The message stands in the text of the phone beside what the operator has written there. */
const longestBindingMessage = 60;

/** @throws The error for the client when a phone could not show the message. */
export const checkBindingMessage = (message: unknown): void => {
  const text = textIn(message);
  if (text === undefined) return;
  const readable = text.trim() === text && text !== '' && !unshowable.test(text);
  if (!readable || text.length > longestBindingMessage) {
    throw refusal(
      'invalid_binding_message',
      'otherRequest',
      `binding_message must be one line of at most ${longestBindingMessage} characters`,
    );
  }
};

/**
 * Checks the hints, the context, `dtbd` and `acr_values`; of the last only those that are known are left.
 *
 * Only `login_hint` names a user here. The subject of an ID token is pairwise, and nobody can tell the number from it; tokens
 * that name users are issued by nobody. Nothing is made of the context; one that cannot be read is a mistake that its sender
 * wants to know of.
 *
 * @throws The error for the client.
 */
export const checkParameters = (params: Record<string, unknown>, client: OauthClient): void => {
  for (const name of ['login_hint_token', 'id_token_hint']) {
    if (params[name] !== undefined) {
      throw refusal('invalid_request', 'otherRequest', `${name} is not supported: use login_hint`);
    }
  }
  const context = textIn(params.request_context);
  if (context !== undefined && parseJsonObject(context) === undefined) {
    throw refusal('invalid_request', 'otherRequest', 'request_context must be a JSON object');
  }
  const dtbd = textIn(params.dtbd);
  // As long with a space, and a text here may have lines.
  const refused = dtbd === undefined ? undefined : checkDtbd(dtbd.replaceAll('\n', ' '), client);
  if (refused !== undefined) throw errorForLibrary(refused);
  const acrValues = readAcrValues(textIn(params.acr_values), client);
  if ('refusal' in acrValues) throw errorForLibrary(acrValues.refusal);
  // What was left out must not come back with the library's record.
  params.acr_values = acrValues.value;
};

/** @returns Digits of the one number that a hint names: the default one, else the only one. */
export const readNumber = (hint: string): string => {
  const parsed = parseLoginHint(hint);
  if (!parsed.ok) throw refusal('invalid_request', parsed.reason, 'login_hint is malformed');
  const defaults = parsed.hints.filter((each) => each.default);
  const [chosen, ...others] = defaults.length > 0 ? defaults : parsed.hints;
  if (chosen === undefined || others.length > 0) {
    throw refusal('invalid_request', 'badLoginHint', 'login_hint must name exactly one number, or a default');
  }
  return chosen.msisdn;
};
