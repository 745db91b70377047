/**
 * Hands a request to the library on the raw request and response.
 *
 * The library writes addresses into what it answers, and takes host, scheme and path for them from the request: a forged
 * Host, Forwarded or X-Forwarded-Host would put a stranger's address into the discovery document. So before it sees the
 * request, all of these are replaced by what the issuer says; an absolute request target, which outweighs them, is cut down to
 * its path.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tenant } from './tenant.ts';

/** Where a request was meant to go before it was mounted; the library finds its own path out of the two. */
type Mounted = IncomingMessage & { originalUrl?: string };

/** Not X-Forwarded-For: it names the caller, and who may say so is decided elsewhere (`http/trusted-proxy.ts`). */
const misleading = ['forwarded', 'x-forwarded-port', 'x-forwarded-prefix', 'x-forwarded-server'];

/** Path and query of a request target, also of an absolute one (RFC 9112 section 3.2.2). */
export const pathAndQuery = (target: string): string => {
  if (target.startsWith('/')) return target;
  if (!URL.canParse(target)) return '/';
  const { pathname, search } = new URL(target);
  return `${pathname}${search}`;
};

/** Replaces all that a request says about its own address. */
export const pinToIssuer = (incoming: Mounted, { issuer, path }: Pick<Tenant, 'issuer' | 'path'>): void => {
  const { host, protocol } = new URL(issuer);
  for (const name of misleading) delete incoming.headers[name];
  incoming.headers.host = host;
  incoming.headers['x-forwarded-host'] = host;
  incoming.headers['x-forwarded-proto'] = protocol.slice(0, -1);
  const target = pathAndQuery(incoming.originalUrl ?? incoming.url ?? '/');
  incoming.originalUrl = target;
  incoming.url = target.slice(path.length) || '/';
};

/** Resolves when the library has answered. */
export const serveByLibrary = async (
  tenant: Tenant,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const provider = await tenant.provider();
  pinToIssuer(incoming, tenant);
  await provider.callback()(incoming, outgoing);
};
