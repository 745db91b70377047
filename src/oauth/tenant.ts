/**
 * A tenant at work: its issuer, clients, store and provider. Nothing that one tenant stores can be
 * read through another.
 */
import type { Provider } from 'oidc-provider';
import type { SealedStore } from '../redis/sealed-store.ts';
import type { OauthClient, OauthTenant } from '../registry/oauth-client.ts';
import type { ClientSecrets } from './client-changes.ts';

export interface Tenant {
  readonly id: string;
  readonly settings: OauthTenant;
  /**
   * `https://sign.example.com/oidc`, or `…/oidc/t/<id>`. From the configuration, never from a
   * request.
   */
  readonly issuer: string;
  /** The path of the issuer, without a slash at its end. */
  readonly path: string;
  readonly clients: ReadonlyMap<string, OauthClient>;
  readonly store: SealedStore;
  /** `sub` of an account at a client. */
  readonly subjectOf: (account: string, client: Pick<OauthClient, 'sector'>) => string;
  /** The valid secrets of a client. Without a client there are none, after the same work. */
  secretsOf(client: OauthClient | undefined): Promise<ClientSecrets>;
  /** The library's provider with the current keys: ask for it at each use. */
  provider(): Promise<Provider>;
}

/** The name under which limits count a client. An unknown client counts as its tenant. */
export const nameOfClient = (
  { id, clients }: Pick<Tenant, 'id' | 'clients'>,
  clientId: string | undefined,
): string => (clientId !== undefined && clients.has(clientId) ? `${id} ${clientId}` : id);

export interface Tenants {
  readonly all: readonly Tenant[];
  readonly main: Tenant;
  find(id: string): Tenant | undefined;
  /** Finds a tenant by the id in its path. Undefined is the first tenant, whose path has no id. */
  at(id: string | undefined): Tenant | undefined;
  findByIssuer(issuer: string): Tenant | undefined;
}
