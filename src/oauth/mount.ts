/**
 * Hands a raw request to the library. The library takes host, scheme and path for the addresses in
 * its answers from the request, so a forged header (Host, Forwarded, X-Forwarded-Host) would put a
 * stranger's address into the discovery document. All of them are replaced by those of the issuer
 * first.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Parameters } from '../http/pages/form.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { Tenant } from './tenant.ts';

/** The library finds its own path from the two addresses. */
type Mounted = IncomingMessage & { originalUrl?: string };

/** X-Forwarded-For names the caller; `http/trusted-proxy.ts` judges it. */
const misleading = ['forwarded', 'x-forwarded-port', 'x-forwarded-prefix', 'x-forwarded-server'];

/** Path and query of a request target, also of an absolute one (RFC 9112 3.2.2). */
export const pathAndQuery = (target: string): string => {
  if (target.startsWith('/')) return target;
  if (!URL.canParse(target)) return '/';
  const { pathname, search } = new URL(target);
  return `${pathname}${search}`;
};

/** Replaces all that a request says about its own address. */
export const pinToIssuer = (
  incoming: Mounted,
  { issuer, path }: Pick<Tenant, 'issuer' | 'path'>,
): void => {
  const { host, protocol } = new URL(issuer);
  for (const name of misleading) delete incoming.headers[name];
  incoming.headers.host = host;
  incoming.headers['x-forwarded-host'] = host;
  incoming.headers['x-forwarded-proto'] = protocol.slice(0, -1);
  const target = pathAndQuery(incoming.originalUrl ?? incoming.url ?? '/');
  incoming.originalUrl = target;
  incoming.url = target.slice(path.length) || '/';
};

/** Requests that were handed over, and the client that each has proven to be. */
const provenBy = new WeakMap<IncomingMessage, string>();

/** Whether this request comes from this client: the library's question about a secret. */
export const isProvenBy = (incoming: IncomingMessage | undefined, clientId: string): boolean =>
  incoming !== undefined && provenBy.get(incoming) === clientId;

/** What only we need to know. */
const credentials = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];

/**
 * A request as the library gets it, once its body was read and its client is known: without
 * credentials. A confidential client stands in the header, with a secret that says nothing;
 * `isProvenBy` answers for it.
 */
export const handOver = (
  incoming: IncomingMessage,
  form: Parameters,
  { id, authentication }: Pick<OauthClient, 'id' | 'authentication'>,
): IncomingMessage => {
  const isPublic = authentication === 'none';
  const fields = new URLSearchParams([...form].filter(([name]) => !credentials.includes(name)));
  if (isPublic) fields.set('client_id', id);
  const body = Buffer.from(fields.toString());
  const { authorization: _, 'transfer-encoding': __, ...headers } = incoming.headers;
  const handed = new IncomingMessage(incoming.socket);
  handed.method = incoming.method ?? 'POST';
  handed.url = incoming.url ?? '/';
  handed.httpVersion = incoming.httpVersion;
  handed.headers = {
    ...headers,
    ...(!isPublic && { authorization: `Basic ${Buffer.from(`${id}:proven`).toString('base64')}` }),
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  };
  handed.push(body);
  handed.push(null);
  // Otherwise its end would close the connection.
  handed.complete = true;
  if (!isPublic) provenBy.set(handed, id);
  return handed;
};

export const serveByLibrary = async (
  tenant: Tenant,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const provider = await tenant.provider();
  pinToIssuer(incoming, tenant);
  await provider.callback()(incoming, outgoing);
};
