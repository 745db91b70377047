/**
 * What a backchannel request may say. Pure: no clock, no I/O.
 *
 * The library has looked at the signature, the client, its scopes and the required parameters before, and has left unknown scopes
 * out. A strict client is told of unknown acr values; for others they are left out, as at `/par`.
 *
 * Sources: OpenID Connect CIBA sections 7.1 and 13.
 */
import { dtbsLimit } from '../../protocol/gsm.ts';
import type { AcrValue, OauthClient } from '../../registry/oauth-client.ts';
import { acrValuesIn } from '../authentication-context.ts';
import { parseLoginHint } from '../login-hint.ts';
import { unshowable } from '../par/parameters.ts';
import { textIn } from '../text-in.ts';
import { refusal } from './refusal.ts';

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

const isJsonObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** Nothing is made of the context; one that cannot be read is a mistake that its sender wants to know of. */
export const checkRequestContext = (context: unknown): void => {
  const text = textIn(context);
  if (text === undefined || isJsonObject(text)) return;
  throw refusal('invalid_request', 'otherRequest', 'request_context must be a JSON object');
};

/**
 * Only `login_hint` names a user here. The subject of an ID token is pairwise, and nobody can tell the number from it; tokens
 * that name users are issued by nobody.
 */
export const checkHints = (params: Readonly<Record<string, unknown>>): void => {
  for (const name of ['login_hint_token', 'id_token_hint']) {
    if (params[name] !== undefined) {
      throw refusal('invalid_request', 'otherRequest', `${name} is not supported: use login_hint`);
    }
  }
};

/** @returns The known ones of `acr_values`, best first. */
export const readAcrValues = (value: unknown, { strictParameters }: OauthClient): readonly AcrValue[] => {
  const text = textIn(value);
  if (text === undefined) return [];
  if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text)) {
    throw refusal('invalid_request', 'acrMalformed', 'acr_values is malformed');
  }
  const known = [...new Set(acrValuesIn(text))];
  if (strictParameters && !text.split(' ').every((each) => (known as readonly string[]).includes(each))) {
    throw refusal('invalid_request', 'acrUnknown', 'acr_values has an unknown value');
  }
  return known;
};

/** @returns The text for the phone that the client has brought. */
export const readDtbd = (value: unknown, { dtbdAllowed }: OauthClient): string | undefined => {
  const text = textIn(value);
  if (text === undefined) return undefined;
  if (!dtbdAllowed) {
    throw refusal('invalid_request', 'parameterNotAllowed', 'dtbd is not allowed for this client');
  }
  if (text.length > dtbsLimit(text) || unshowable.test(text.replaceAll('\n', ''))) {
    throw refusal('invalid_request', 'otherRequest', 'dtbd must be a text that a phone can show');
  }
  return text;
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
