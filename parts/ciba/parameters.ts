/**
 * What a backchannel request may say, and its errors. Pure. The library has checked the signature,
 * the client, its scopes and the required parameters before. Error texts are fixed: they name a
 * parameter and never its value.
 *
 * Sources: OpenID Connect CIBA 7.1 and 13.
 */
import { describeError, type ErrorCause } from '../../src/oauth/error-codes.ts';
import { errors, readText } from '../../src/oauth/library.ts';
import type { LoginError } from '../../src/oauth/login-failures.ts';
import { parseJsonObject, parseLoginHint } from '../../src/oauth/login-hint.ts';
import { checkDtbd, readAcrValues, unshowable } from '../../src/oauth/par/parameters.ts';
import { errorForLibrary } from '../../src/oauth/par/refusal.ts';
import type { OauthClient } from '../../src/registry/oauth-client.ts';

const failure = (error: string, description: string, status = 400): Error =>
  Object.assign(new errors.CustomOIDCProviderError(error, description), {
    status,
    statusCode: status,
  });

export const refusal = (
  error: 'invalid_request' | 'invalid_binding_message' | 'unauthorized_client' | 'unknown_user_id',
  cause: ErrorCause,
  text: string,
): Error => failure(error, describeError(cause, text).description);

/** The phone cannot be asked, and a later try would not help. */
export const denied = ({ error, description }: LoginError): Error =>
  failure(error, description, error === 'server_error' ? 500 : 403);

export const unavailable = (status: 429 | 503, text: string): Error =>
  failure('temporarily_unavailable', describeError('otherRequest', text).description, status);

/** The text of the phone has the operator's words as well. */
const maxBindingMessageLength = 60;

export const checkBindingMessage = (message: unknown): void => {
  const text = readText(message);
  if (text === undefined) return;
  const readable = text.trim() === text && text !== '' && !unshowable.test(text);
  if (!readable || text.length > maxBindingMessageLength) {
    throw refusal(
      'invalid_binding_message',
      'otherRequest',
      `binding_message must be one line of at most ${maxBindingMessageLength} characters`,
    );
  }
};

/**
 * Checks the hints, the context, `dtbd` and `acr_values`, and drops unknown acr values. Only
 * `login_hint` names a user: the subject of an ID token is pairwise, so it does not tell the
 * number. The context is not used; a malformed one is reported as the client's mistake.
 */
export const checkParameters = (params: Record<string, unknown>, client: OauthClient): void => {
  for (const name of ['login_hint_token', 'id_token_hint']) {
    if (params[name] !== undefined) {
      throw refusal('invalid_request', 'otherRequest', `${name} is not supported: use login_hint`);
    }
  }
  const context = readText(params.request_context);
  if (context !== undefined && parseJsonObject(context) === undefined) {
    throw refusal('invalid_request', 'otherRequest', 'request_context must be a JSON object');
  }
  const dtbd = readText(params.dtbd);
  // A space is as long as a line feed, which is allowed here.
  const refused = dtbd === undefined ? undefined : checkDtbd(dtbd.replaceAll('\n', ' '), client);
  if (refused !== undefined) throw errorForLibrary(refused);
  const acrValues = readAcrValues(readText(params.acr_values), client);
  if ('refusal' in acrValues) throw errorForLibrary(acrValues.refusal);
  // The library stores the parameters, so dropped values are removed from them.
  params.acr_values = acrValues.value;
};

/** @returns The default number of a hint, or its only one; digits. */
export const readNumber = (hint: string): string => {
  const parsed = parseLoginHint(hint);
  if (!parsed.ok) throw refusal('invalid_request', parsed.reason, 'login_hint is malformed');
  const defaults = parsed.hints.filter((each) => each.default);
  const [chosen, ...others] = defaults.length > 0 ? defaults : parsed.hints;
  if (chosen === undefined || others.length > 0) {
    throw refusal(
      'invalid_request',
      'badLoginHint',
      'login_hint must name exactly one number, or a default',
    );
  }
  return chosen.msisdn;
};
