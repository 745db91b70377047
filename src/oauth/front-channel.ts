/**
 * What may reach the authorisation endpoint through the browser, where anyone can write links.
 *
 * Beside a pushed request no other parameter counts. A pushed request that is unknown, expired,
 * used or another client's is refused on a page: to redirect the error would make this service an
 * open redirector. Other requests follow the rules of `/par`, and must not contain what only a
 * client may say (a text for the phone, a test number).
 *
 * Sources: RFC 9126 4, RFC 9101 5.3, RFC 9700 4.11; interface section 5.6.
 */
import { decodeJwt } from 'jose';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isForm, parseForm } from '../http/pages/form.ts';
import { type BodyLimits, readBody } from '../http/pages/request-body.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { FrontRefusal } from './error-pages.ts';
import { readText } from './library.ts';
import { parseLoginHint } from './login-hint.ts';
import { handlePrefix } from './par/par.ts';
import { checkParameters, keptParameters, nameOurs } from './par/parameters.ts';
import { errorForLibrary, wireErrorOf } from './par/refusal.ts';
import { readRequestObject } from './par/request-object.ts';
import type { Tenant } from './tenant.ts';

/** The query for the library, or an error for a page of ours. */
export type FrontChannelVerdict = { readonly query: string } | FrontRefusal;

const refuse = (
  text: string,
  error: FrontRefusal['error'] = 'invalid_request',
  status: FrontRefusal['status'] = 400,
): FrontRefusal => ({ status, error, text });

const unusable = refuse(
  'request_uri is invalid, expired, or was already used',
  'invalid_request_uri',
);

/** Longer addresses are cut or refused by servers and proxies. */
export const maxQueryLength = 8192;

export const tooLong = refuse('the request is too long: push it', 'invalid_request', 413);

/**
 * The authorisation and logout endpoints take forms too (OpenID Connect Core 3.1.2.1, RP-Initiated
 * Logout 2). Our cookies are SameSite and do not come with a form of another site, so the form
 * becomes a link that the browser follows.
 */
export const linkOf = async (
  request: Request,
  address: string,
  limits: BodyLimits,
): Promise<{ readonly location: string } | FrontRefusal> => {
  if (!isForm(request.headers.get('content-type') ?? undefined)) {
    return refuse('Content-Type must be application/x-www-form-urlencoded');
  }
  const body = await readBody(request, undefined, {
    ...limits,
    maxBytes: maxQueryLength,
  });
  if (!body.ok) return body.reason === 'bodyTooLarge' ? tooLong : refuse('the form is incomplete');
  // Written anew, so that it cannot break out of the header.
  const query = new URLSearchParams(Buffer.from(body.bytes).toString('utf8'));
  return { location: `${address}?${query}` };
};

const claimsOf = (jwt: string): Readonly<Record<string, unknown>> => {
  try {
    return decodeJwt(jwt);
  } catch {
    return {};
  }
};

const checkPushed = async (
  tenant: Tenant,
  parameters: URLSearchParams,
): Promise<FrontChannelVerdict> => {
  const requestUris = parameters.getAll('request_uri');
  const clientIds = parameters.getAll('client_id');
  if (requestUris.length > 1 || clientIds.length > 1) {
    return refuse('request_uri and client_id must not be provided twice');
  }
  const [requestUri = ''] = requestUris;
  const [clientId = ''] = clientIds;
  if (clientId === '') return refuse('client_id is missing');
  if (!requestUri.startsWith(handlePrefix)) return unusable;
  const { PushedAuthorizationRequest } = await tenant.provider();
  const pushed = await PushedAuthorizationRequest.find(requestUri.slice(handlePrefix.length), {
    ignoreExpiration: true,
  });
  if (!pushed?.isValid || claimsOf(pushed.request ?? '').client_id !== clientId) return unusable;
  return {
    query: new URLSearchParams({ client_id: clientId, request_uri: requestUri }).toString(),
  };
};

const namesTestNumber = (hint: unknown, isTestNumber: (msisdn: string) => boolean): boolean => {
  if (typeof hint !== 'string') return false;
  const parsed = parseLoginHint(hint);
  return parsed.ok && parsed.hints.some(({ msisdn }) => isTestNumber(msisdn));
};

/** @param query The query of the request target, without the question mark. */
export const checkFrontChannel = async (
  tenant: Tenant,
  query: string,
  isTestNumber: (msisdn: string) => boolean,
): Promise<FrontChannelVerdict> => {
  const parameters = new URLSearchParams(query);
  if (parameters.has('request_uri')) return checkPushed(tenant, parameters);
  const parsed = parseForm(Buffer.from(query));
  if (!parsed.ok) return refuse(wireErrorOf(nameOurs(parsed)).text);
  const signed = claimsOf(parameters.get('request') ?? '');
  if (parameters.has('dtbd') || signed.dtbd !== undefined) {
    return refuse('dtbd must be pushed');
  }
  const hints = [...parameters.getAll('login_hint'), signed.login_hint];
  if (hints.some((hint) => namesTestNumber(hint, isTestNumber))) {
    return refuse('the number in login_hint must be pushed');
  }
  return { query };
};

/**
 * Applies the rules of `/par` to a request that was not pushed.
 *
 * @param ctx At the authorisation endpoint; a signed request is already verified.
 * @throws The error for the client.
 */
export const checkLink = (
  { oidc }: KoaContextWithOIDC,
  rules: {
    readonly clientOf: (id: string) => OauthClient;
    readonly isTestNumber: (msisdn: string) => boolean;
  },
): void => {
  const { params = {}, client, entities } = oidc;
  if (client === undefined || entities.PushedAuthorizationRequest !== undefined) return;
  const given = Object.entries(params).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  const checked = checkParameters(new Map(given), {
    client: rules.clientOf(client.clientId),
    isTestNumber: rules.isTestNumber,
  });
  if ('refusal' in checked) throw errorForLibrary(checked.refusal);
  for (const name of keptParameters) params[name] = checked.value[name];
};

/** Holds a signed request of a link to the rules of `/par`. @throws The error for the client. */
export const checkSignedLink = async (
  { oidc }: KoaContextWithOIDC,
  client: OauthClient,
  issuer: string,
  nowMs: number,
): Promise<void> => {
  const jwt = readText(oidc.params?.request);
  const isLink =
    oidc.route === 'authorization' && oidc.entities.PushedAuthorizationRequest === undefined;
  if (!isLink || jwt === undefined) return;
  const read = await readRequestObject(jwt, client, issuer, nowMs);
  if ('refusal' in read) throw errorForLibrary(read.refusal);
};
