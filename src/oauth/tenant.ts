/**
 * A tenant at work: its issuer, its clients and the library's provider that serves it. What one tenant stores, nobody
 * can reach through another.
 */
import type { Provider } from 'oidc-provider';
import type { OauthClient, OauthTenant } from '../registry/oauth-client.ts';
import type { SealedStore } from './sealed-store.ts';

export interface Tenant {
  readonly id: string;
  readonly settings: OauthTenant;
  /** `https://sign.example.com/oidc`, or `…/oidc/t/<id>`. From the configuration, never from a request. */
  readonly issuer: string;
  /** The path of the issuer, without a slash at its end. */
  readonly path: string;
  readonly clients: ReadonlyMap<string, OauthClient>;
  readonly store: SealedStore;
  /** `sub` of an account at a client. */
  readonly subjectOf: (account: string, client: Pick<OauthClient, 'sector'>) => string;
  /** The library's provider with the keys of the moment: ask for it at each use, and keep it no longer. */
  provider(): Promise<Provider>;
}

/** For limits: whatever is no client of the tenant counts as one. */
export const nameOfClient = (
  { id, clients }: Pick<Tenant, 'id' | 'clients'>,
  clientId: string | undefined,
): string => (clientId !== undefined && clients.has(clientId) ? `${id} ${clientId}` : id);

export interface Tenants {
  readonly all: readonly Tenant[];
  /** The first one. */
  readonly main: Tenant;
  /** @param id The tenant's id. */
  find(id: string): Tenant | undefined;
  findByIssuer(issuer: string): Tenant | undefined;
}
