/**
 * Answers of `/par`, and refusals of the other endpoints for programs: JSON that must not be
 * cached, because a handle gives access to its request. Apps in a browser without a server push
 * from there as public clients. Their pages may read the answer when they come from a registered
 * address of a public client.
 *
 * Source: the Fetch standard, section 3.3; RFC 9700 2.6.
 */
import type { IncomingMessage } from 'node:http';
import type { HonoRequest } from 'hono';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { OauthDeps } from '../deps.ts';
import { describeError } from '../error-codes.ts';
import type { Tenant } from '../tenant.ts';
import { type ParRefusal, type WireError, wireErrorOf } from './refusal.ts';

export interface PushAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export const present = ({ status, headers, body }: PushAnswer): Response =>
  new Response(JSON.stringify(body), { status, headers });

/** Node has parsed the headers; `Request` would copy all of them first. */
export const headersOf =
  (request: HonoRequest, incoming: IncomingMessage | undefined) =>
  (name: string): string | undefined => {
    const value = incoming === undefined ? request.header(name) : incoming.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  };

/** What is known of the caller when the answer is written. */
export interface Asker {
  readonly tenant: Tenant;
  /** The client, or the one that is claimed. */
  readonly client?: OauthClient | undefined;
  readonly origin: string | undefined;
  readonly triedBasic?: boolean;
  /** `WWW-Authenticate` of an endpoint for tokens, which answers 401 where others answer 400. */
  readonly challenge?: string;
  /** Seconds, where the same may be sent again. */
  readonly retryAfter?: number;
}

/** All other schemes share the origin `null`. */
const originOf = (uri: string): string | undefined =>
  /^https?:/.test(uri) && URL.canParse(uri) ? new URL(uri).origin : undefined;

/** Whether pages of this origin may read answers to the client, of all endpoints. */
export const mayRead = (origin: string, client: OauthClient): boolean =>
  client.authentication === 'none' && client.redirectUris.some((uri) => originOf(uri) === origin);

/** The CORS headers of an answer. If the client is unknown, any client of the tenant counts. */
const crossOriginHeaders = ({
  origin,
  tenant,
  client,
}: Asker): Readonly<Record<string, string>> => {
  const meant = client === undefined ? [...tenant.clients.values()] : [client];
  if (origin === undefined || !meant.some((each) => mayRead(origin, each))) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'WWW-Authenticate, Retry-After',
  };
};

/** A preflight request names no client and no tenant, so all apps count; it decides nothing. */
export const preflightHeaders = (
  origin: string | undefined,
  requestedHeaders: string | undefined,
  tenants: readonly Tenant[],
): Readonly<Record<string, string>> => {
  const vary = { vary: 'Origin, Access-Control-Request-Headers' };
  const clients = tenants.flatMap((tenant) => [...tenant.clients.values()]);
  if (origin === undefined || !clients.some((client) => mayRead(origin, client))) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-max-age': '3600',
    ...(requestedHeaders !== undefined && { 'access-control-allow-headers': requestedHeaders }),
  };
};

export const answerHeaders = (asker: Asker): Readonly<Record<string, string>> => ({
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  vary: 'Origin',
  ...crossOriginHeaders(asker),
});

export const createRefusalAnswers = ({ log }: Pick<OauthDeps, 'log'>) => {
  const headersFor = (
    status: WireError['status'],
    { tenant, triedBasic, challenge, retryAfter }: Asker,
  ): Record<string, string> => {
    if (status === 401 && triedBasic)
      return { 'www-authenticate': `Basic realm="${tenant.issuer}"` };
    if (status === 401 && challenge !== undefined) return { 'www-authenticate': challenge };
    if (status === 405) return { allow: 'POST' };
    return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  };

  /** Makes the answer to a refused request, and writes the audit entry. */
  return (refusal: ParRefusal, asker: Asker): PushAnswer => {
    const { error, cause, text, ...wire } = wireErrorOf(refusal);
    const status = asker.challenge === undefined ? wire.status : 401;
    const { description, code, trace } = describeError(cause, text);
    const event = refusal.reason === 'clientRefused' ? 'client refused' : 'request refused';
    log.audit({
      event,
      tenant: asker.tenant.id,
      clientId: asker.client?.id,
      error,
      code,
      description: text,
      trace,
    });
    return {
      status,
      headers: { ...answerHeaders(asker), ...headersFor(status, asker) },
      body: { error, error_description: description },
    };
  };
};
