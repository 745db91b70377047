/**
 * What a part adds to the OpenID provider: another way to log in, which the library has and which
 * is off without the part. A tenant has it when one of its clients does.
 */
import type { AdapterPayload, ClientMetadata, Configuration, Provider } from 'oidc-provider';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { OauthDeps } from './deps.ts';
import type { Tenant } from './tenant.ts';

/** The rules by which the library's records of one kind are stored and used. */
export interface RecordRules {
  /** Whether the records end with the grant that they name. */
  readonly endsWithGrant?: boolean;
  /** Whether the records can be used only once. A second use is refused. */
  readonly usedOnce?: boolean;
  /** Seconds that the records are kept after they have expired. */
  readonly keptSeconds?: number;
  /**
   * The library hears of a use only after this time. On a used record it revokes the tokens; so of
   * parallel requests the loser would revoke those of the winner.
   */
  readonly useHiddenSeconds?: number;
  /**
   * Called with each record that the library looks for and finds.
   *
   * @returns Whether the record has changed, and should be read again.
   * @throws An error of the library, for the client.
   */
  onFound?(id: string, payload: AdapterPayload): Promise<boolean>;
}

/** The additions to one tenant. */
export interface TenantExtension {
  /** Members of the library's configuration. */
  readonly features: NonNullable<Configuration['features']>;
  readonly routes: NonNullable<Configuration['routes']>;
  readonly ttl: NonNullable<Configuration['ttl']>;
  /** The rules for records of the extension, by the library's name of the kind. */
  readonly records: Readonly<Record<string, RecordRules>>;
  /** Events of the library that tell of a refused request. */
  readonly refusalEvents: readonly string[];
  /** Changes the library's provider before its first request. */
  prepare(provider: Provider): void;
}

export interface OauthExtension {
  /**
   * Describes a client in the library's format. `grant_types` are added to its others. `jwks_uri`
   * takes the place of its keys where the library reads them from an address only; it is answered
   * from the configuration and never fetched.
   *
   * @returns Undefined for a client that does not use the extension.
   */
  describe(client: OauthClient): Partial<ClientMetadata> | undefined;
  /** Called for tenants with a client that uses it. */
  forTenant(tenant: Tenant): TenantExtension;
  /** Begins its work beside requests. Safe to call again. */
  start(): void;
  /** Leaves open work to other processes. Safe to call again. */
  close(): Promise<void>;
}

/** Called while the provider is made: what it is given may be asked only later. */
export type ExtendOauth = (deps: Omit<OauthDeps, 'checkSecret' | 'extensions'>) => OauthExtension;

export interface OauthPart<Rooms> {
  /**
   * Paths below the issuer, of the library. Clients send forms to them by POST, and authenticate as
   * at the token endpoint.
   */
  readonly endpoints: readonly string[];
  /** The grant types that the part adds, as metrics name them. */
  readonly grantTypes: readonly string[];
  /** Opens nothing that has to be closed. */
  open(rooms: Rooms): Promise<ExtendOauth>;
}

export interface OpenedExtension extends OauthExtension {
  readonly endpoints: readonly string[];
}

/** Whether the tenant has a client that uses the extension. */
export const isUsedBy = (
  { describe }: Pick<OauthExtension, 'describe'>,
  { clients }: Pick<Tenant, 'clients'>,
): boolean => [...clients.values()].some((client) => describe(client) !== undefined);
