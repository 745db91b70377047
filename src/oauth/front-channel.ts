/**
 * What may come to the authorisation endpoint through the browser, where everybody can write links.
 *
 * Beside a pushed request nothing else counts, and one that is unknown, expired, used up or another client's is refused where
 * it is: redirecting the error would make this service an open redirector for whoever brings a foreign handle. Without a
 * pushed request, what only a client may say (a text for the phone, a test number) is refused in the same way. All else is held
 * to the rules of `/par`, and what breaks them goes back to the client before anybody is asked.
 *
 * Sources: RFC 9126 section 4, RFC 9101 section 5.3, RFC 9700 section 4.11; interface section 5.6.
 */
import { decodeJwt } from 'jose';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { BodyLimits } from '../request-body.ts';
import type { FrontRefusal } from './error-pages.ts';
import { isForm, readBody } from './form.ts';
import { parseLoginHint } from './login-hint.ts';
import { handlePrefix } from './par/par.ts';
import { checkParameters, keptParameters } from './par/parameters.ts';
import { errorForLibrary } from './par/refusal.ts';
import type { Tenant } from './tenant.ts';

/** What goes on to the library, or is refused on a page of ours. */
export type FrontChannelVerdict = { readonly query: string } | FrontRefusal;

const refuse = (
  text: string,
  error: FrontRefusal['error'] = 'invalid_request',
  status: FrontRefusal['status'] = 400,
): FrontRefusal => ({ status, error, text });

const unusable = refuse('request_uri is invalid, expired, or was already used', 'invalid_request_uri');

/** Longer addresses are cut or refused by servers and proxies on the way. */
export const longestQuery = 8192;

export const tooLong = refuse('the request is too long: push it', 'invalid_request', 413);

/**
 * OpenID Connect wants the authorisation and the logout endpoint to take forms as well (Core 3.1.2.1, RP-Initiated Logout 2). A
 * form from elsewhere brings no cookies of ours, since they are SameSite; so it becomes the link that it stands for, and the
 * browser follows that with its cookies.
 *
 * @returns Where to send the browser. Never rejects for something that the caller did.
 */
export const linkOf = async (
  request: Request,
  address: string,
  limits: BodyLimits,
): Promise<{ readonly location: string } | FrontRefusal> => {
  if (!isForm(request.headers.get('content-type') ?? undefined)) {
    return refuse('Content-Type must be application/x-www-form-urlencoded');
  }
  const body = await readBody(request, request.headers.get('content-length') ?? undefined, {
    ...limits,
    maxBytes: longestQuery,
  });
  if (!body.ok) return body.reason === 'bodyTooLarge' ? tooLong : refuse('the form is incomplete');
  // Written anew, so that nothing in it can leave the header.
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

const checkPushed = async (tenant: Tenant, parameters: URLSearchParams): Promise<FrontChannelVerdict> => {
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
  return { query: new URLSearchParams({ client_id: clientId, request_uri: requestUri }).toString() };
};

const namesTestNumber = (hint: unknown, isTestNumber: (msisdn: string) => boolean): boolean => {
  if (typeof hint !== 'string') return false;
  const parsed = parseLoginHint(hint);
  return parsed.ok && parsed.hints.some(({ msisdn }) => isTestNumber(msisdn));
};

/** @param query Of the request target, without the question mark. */
export const checkFrontChannel = async (
  tenant: Tenant,
  query: string,
  isTestNumber: (msisdn: string) => boolean,
): Promise<FrontChannelVerdict> => {
  const parameters = new URLSearchParams(query);
  if (parameters.has('request_uri')) return checkPushed(tenant, parameters);
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
 * Holds the parameters of a request that was not pushed to what `/par` would say, and leaves those in effect.
 *
 * @param ctx At the authorisation endpoint; a signed request has been opened and verified.
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
  const given = Object.entries(params).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const checked = checkParameters(new Map(given), {
    client: rules.clientOf(client.clientId),
    isTestNumber: rules.isTestNumber,
  });
  if ('refusal' in checked) throw errorForLibrary(checked.refusal);
  for (const name of keptParameters) params[name] = checked.value[name];
};
