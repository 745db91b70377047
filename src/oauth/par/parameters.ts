/**
 * What a request may say, pushed or not. Pure. What the library would refuse at the authorisation
 * endpoint is refused here, where the client gets the error and not the person. Strict clients get
 * an error for unknown scopes and acr values and for malformed lists; for others what is unknown is
 * left out, as is the `login_hint` of a client that may not use it. Unknown parameters are
 * ignored, and those of features that are off (`claims`, `resource`, `authorization_details`).
 *
 * Sources: OpenID Connect Core 3.1.2.1; RFC 6749 3.3, 4.1.1; RFC 7636 4.3; RFC 9449 10; interface
 * sections 4.5 and 5.6.
 */

import { dtbsLimit } from '../../../packages/protocol/src/gsm.ts';
import type { Parameters, parseForm } from '../../http/pages/form.ts';
import { acrValues, type OauthClient, oauthScopes } from '../../registry/oauth-client.ts';
import { isRegistered } from '../../registry/web-address.ts';
import { parseLoginHint } from '../login-hint.ts';
import { type Outcome, type ParameterName, type ParRefusal, refuse } from './refusal.ts';

export const keptParameters = [
  'client_id',
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'acr_values',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'claims_locales',
  'display',
  'dtbd',
  'dpop_jkt',
] as const;

const ourNames: ReadonlySet<string> = new Set([
  ...keptParameters,
  'request',
  'request_uri',
  'registration',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
]);

type Unparsed = Extract<ReturnType<typeof parseForm>, { ok: false }>;

/** A repeated name that is not of ours is the caller's text. */
export const nameOurs = (unparsed: Unparsed): ParRefusal =>
  unparsed.reason === 'parameterRepeated'
    ? { reason: unparsed.reason, name: ourNames.has(unparsed.name) ? unparsed.name : undefined }
    : { reason: unparsed.reason };

export interface ParameterRules {
  readonly client: OauthClient;
  readonly isTestNumber: (msisdn: string) => boolean;
}

/** A value to keep, `undefined` for none, or the error. */
type Read = Outcome<string | undefined>;
type Check = (parameters: Parameters, rules: ParameterRules) => ParRefusal | undefined;

const malformed = (name: ParameterName): ParRefusal => ({ reason: 'parameterMalformed', name });
const missing = (name: ParameterName): ParRefusal => ({ reason: 'parameterMissing', name });

const knownScopes: ReadonlySet<string> = new Set(oauthScopes);
const knownAcrValues: ReadonlySet<string> = new Set(acrValues);
const responseModes = /^(?:(?:query|fragment|form_post)(?:\.jwt)?|jwt)$/;
const prompts: ReadonlySet<string> = new Set(['none', 'login', 'consent', 'select_account']);

/** RFC 6749 3.3. */
const scopeWord = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** RFC 5646. */
const languageTag = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;
/** A SHA-256 in base64url: of a verifier or of a key. */
const sha256Text = /^[A-Za-z0-9_-]{43}$/;
/** Characters that no phone can show. */
export const unshowable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/u;

/** Parameters that need an ID token, as the library sees it. */
const neededForIdTokens = [
  'acr_values',
  'claims_locales',
  'id_token_hint',
  'max_age',
  'nonce',
] as const;

/**
 * The words of a list, each once. A strict client separates them by single spaces, and one
 * malformed word makes the list malformed: undefined. From others every word counts that is
 * well-formed.
 */
const wordsIn = (
  text: string,
  { strictParameters }: Pick<OauthClient, 'strictParameters'>,
  word = scopeWord,
): readonly string[] | undefined => {
  const words = new Set(text.split(strictParameters ? ' ' : /\s+/));
  const formed = [...words].filter((each) => word.test(each));
  return strictParameters && formed.length < words.size ? undefined : formed;
};

const checkResponseType: Check = (parameters) => {
  const type = parameters.get('response_type');
  if (type === undefined) return missing('response_type');
  return type === 'code' ? undefined : { reason: 'responseType' };
};

const checkChallenge: Check = (parameters, { client }) => {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    return method === undefined && client.authentication !== 'none'
      ? undefined
      : missing('code_challenge');
  }
  // Without a method the challenge would be in clear.
  if (method !== 'S256') return { reason: 'challengeMethod' };
  return sha256Text.test(challenge) ? undefined : malformed('code_challenge');
};

const checkLoginHint: Check = (parameters, { client, isTestNumber }) => {
  const text = parameters.get('login_hint');
  if (text === undefined) return undefined;
  const hint = parseLoginHint(text);
  if (!hint.ok) return client.loginHintAllowed ? { reason: hint.reason } : undefined;
  const isAllowed =
    client.loginHintAllowed || !hint.hints.some(({ msisdn }) => isTestNumber(msisdn));
  return isAllowed ? undefined : { reason: 'testNumber' };
};

export const checkDtbd = (text: string, { dtbdAllowed }: OauthClient): ParRefusal | undefined => {
  if (!dtbdAllowed) return { reason: 'dtbdNotAllowed' };
  return text.length > dtbsLimit(text) || unshowable.test(text)
    ? { reason: 'dtbdUnshowable' }
    : undefined;
};

const checkFormat =
  (name: ParameterName, pattern: RegExp): Check =>
  (parameters) => {
    const text = parameters.get(name);
    return text === undefined || pattern.test(text) ? undefined : malformed(name);
  };

const checks: readonly Check[] = [
  checkResponseType,
  checkFormat('response_mode', responseModes),
  checkChallenge,
  checkFormat('max_age', /^\d{1,15}$/),
  checkLoginHint,
  (parameters, { client }) => {
    const text = parameters.get('dtbd');
    return text === undefined ? undefined : checkDtbd(text, client);
  },
  checkFormat('dpop_jkt', sha256Text),
];

const readRedirectUri = (parameters: Parameters, client: OauthClient): Read => {
  const uri = parameters.get('redirect_uri');
  if (uri !== undefined)
    return isRegistered(uri, client.redirectUris)
      ? { value: uri }
      : refuse({ reason: 'redirectUri' });
  const [only, ...others] = client.redirectUris;
  return only === undefined || others.length > 0
    ? refuse(missing('redirect_uri'))
    : { value: only };
};

/**
 * A client that is not strict and asks for nothing known gets `openid`: the library needs a scope,
 * and does not count `offline_access`.
 */
const readScope = (parameters: Parameters, client: OauthClient): Read => {
  const { strictParameters, scopes } = client;
  const text = parameters.get('scope');
  const asked = text === undefined ? [] : wordsIn(text, client);
  if (asked === undefined) return refuse({ reason: 'scopeUnknown' });
  const known = asked.filter((scope) => knownScopes.has(scope));
  if (strictParameters && known.length < asked.length) return refuse({ reason: 'scopeUnknown' });
  if (strictParameters && !known.includes('openid')) return refuse({ reason: 'openidMissing' });
  if (!known.every((scope) => (scopes as readonly string[]).includes(scope))) {
    return refuse({ reason: 'scopeNotAllowed' });
  }
  const hasOther = known.some((scope) => scope !== 'offline_access');
  return { value: (hasOther ? known : ['openid', ...known]).join(' ') };
};

export const readAcrValues = (text: string | undefined, client: OauthClient): Read => {
  if (text === undefined) return { value: undefined };
  const asked = wordsIn(text, client);
  if (asked === undefined) return refuse({ reason: 'acrMalformed' });
  const known = asked.filter((value) => knownAcrValues.has(value));
  if (client.strictParameters && known.length < asked.length)
    return refuse({ reason: 'acrUnknown' });
  return { value: known.length > 0 ? known.join(' ') : undefined };
};

/** Reads `prompt`. `select_account` is read as `login`, whose page asks for the number. */
const readPrompt = (parameters: Parameters, client: OauthClient): Read => {
  const text = parameters.get('prompt');
  if (text === undefined) return { value: undefined };
  const asked = wordsIn(text, client);
  if (asked === undefined || !asked.every((prompt) => prompts.has(prompt))) {
    return refuse(malformed('prompt'));
  }
  if (asked.includes('none') && asked.length > 1) return refuse({ reason: 'promptNone' });
  const meant = asked.map((prompt) => (prompt === 'select_account' ? 'login' : prompt));
  return { value: [...new Set(meant)].join(' ') || undefined };
};

/**
 * Languages that the pages do not have are not an error (OpenID Connect Core 3.1.2.1). POSIX writes
 * `de_CH`, and programs pass that on.
 */
const readLocales = (parameters: Parameters, client: OauthClient): Read => {
  const text = parameters.get('ui_locales');
  if (text === undefined) return { value: undefined };
  const given = client.strictParameters ? text : text.replaceAll('_', '-');
  const tags = wordsIn(given, client, languageTag);
  if (tags === undefined) return refuse({ reason: 'localesMalformed' });
  return { value: tags.length > 0 ? tags.join(' ') : undefined };
};

const readLoginHint = (parameters: Parameters, { loginHintAllowed }: OauthClient): Read => ({
  value: loginHintAllowed ? parameters.get('login_hint') : undefined,
});

const readers: readonly [ParameterName, (parameters: Parameters, client: OauthClient) => Read][] = [
  ['redirect_uri', readRedirectUri],
  ['scope', readScope],
  ['acr_values', (parameters, client) => readAcrValues(parameters.get('acr_values'), client)],
  ['prompt', readPrompt],
  ['ui_locales', readLocales],
  ['login_hint', readLoginHint],
];

export const checkParameters = (
  parameters: Parameters,
  rules: ParameterRules,
): Outcome<Readonly<Record<string, string>>> => {
  if (parameters.has('registration')) return refuse({ reason: 'registration' });
  for (const check of checks) {
    const refusal = check(parameters, rules);
    if (refusal !== undefined) return refuse(refusal);
  }
  const { client } = rules;
  const read: Record<string, string | undefined> = { client_id: client.id };
  for (const [name, reader] of readers) {
    const value = reader(parameters, client);
    if ('refusal' in value) return value;
    read[name] = value.value;
  }
  const request: Record<string, string> = {};
  for (const name of keptParameters) {
    const value = name in read ? read[name] : parameters.get(name);
    if (value !== undefined) request[name] = value;
  }
  if (!(request.scope ?? '').split(' ').includes('openid')) {
    const name = neededForIdTokens.find((each) => each in request);
    if (name !== undefined) return refuse({ reason: 'openidNeeded', name });
  }
  return { value: request };
};
