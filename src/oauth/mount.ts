/**
 * Hands a raw request to the library. The library takes host, scheme and path for the addresses in
 * its answers from the request, so a forged header (Host, Forwarded, X-Forwarded-Host) would put a
 * stranger's address into the discovery document. All of them are replaced by those of the issuer
 * first.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
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

export const serveByLibrary = async (
  tenant: Tenant,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const provider = await tenant.provider();
  pinToIssuer(incoming, tenant);
  await provider.callback()(incoming, outgoing);
};
