/**
 * Opens the configured tenants. The library fixes its keys when a provider is built, which takes
 * milliseconds. So a provider is built at its first use, and again when the keys have changed. Keys
 * and what operators have changed about clients are read when a provider is needed, at most every
 * two seconds.
 */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { KeyVault } from '../../packages/pki/src/ports.ts';
import { createSealing, deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createSealedStore } from '../redis/sealed-store.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import { createAdapter } from './adapter.ts';
import { createPairwise, type OwnerOf } from './claims.ts';
import { type ClientChange, createClientChanges, secretsOf } from './client-changes.ts';
import type { OauthDeps } from './deps.ts';
import { createProviderPages } from './error-pages.ts';
import { isUsedBy } from './extension.ts';
import { createProvider, type ProviderOptions } from './provider.ts';
import { listenTo } from './provider-events.ts';
import { createSigningKeys } from './signing-keys.ts';
import type { Tenant, Tenants } from './tenant.ts';

/** A new key is published much longer than this before it signs. */
const keysKnownMs = 2000;

export interface TenantsOptions
  extends Pick<OauthDeps, 'settings' | 'subscribers' | 'extensions' | 'now' | 'log'> {
  readonly templates: readonly OauthTenant[];
  /** `https://sign.example.com`, without a slash at its end. */
  readonly publicUrl: string;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly vault: KeyVault;
  readonly ownerOf: OwnerOf;
  readonly onSuspicious: (tenant: Tenant, ctx: KoaContextWithOIDC) => void;
}

const openTenant = (template: OauthTenant, isMain: boolean, options: TenantsOptions): Tenant => {
  const { settings, publicUrl, redis, prefix, serviceKey, now, log } = options;
  const path = isMain ? '/oidc' : `/oidc/t/${template.id}`;
  const issuer = `${publicUrl}${path}`;
  const clients = new Map(template.clients.map((client) => [client.id, client]));
  const sealed = { redis, prefix, tenant: template.id, serviceKey };
  const store = createSealedStore({
    redis,
    base: `${prefix}:oidc:${template.id}`,
    sealing: createSealing(serviceKey, `oidc ${template.id}`),
  });
  const keys = createSigningKeys({ ...sealed, vault: options.vault, settings, now });
  const clientChanges = createClientChanges({ ...sealed, now });
  const cookieKey = deriveKey(serviceKey, `paraph oidc cookies ${template.id}`).toString(
    'base64url',
  );

  /**
   * The time before which logins no longer count: an order for the client, or a new owner of the
   * number; ms since the epoch.
   */
  const endedBefore = (clientId: string, account?: string): number =>
    Math.max(
      changes.get(clientId)?.endedBefore ?? 0,
      account === undefined ? 0 : options.ownerOf(account).since,
    );

  const build = ({ jwks, hintKeys }: Pick<ProviderOptions, 'jwks' | 'hintKeys'>): Provider => {
    const extensions = (options.extensions ?? [])
      .filter((extension) => isUsedBy(extension, tenant))
      .map((extension) => [extension, extension.forTenant(tenant)] as const);
    const additions = extensions.map(([, addition]) => addition);
    const provider = createProvider(tenant, {
      ...options,
      extensions,
      adapter: createAdapter({
        store,
        interactionSeconds: settings.interactionSeconds,
        records: Object.assign({}, ...additions.map(({ records }) => records)),
        endedBefore,
        now,
      }),
      endedBefore,
      jwks,
      hintKeys,
      cookieKeys: [cookieKey],
      pages: createProviderPages(tenant, (code, trace) =>
        log.audit({ event: 'request refused', tenant: template.id, code, trace }),
      ),
    });
    listenTo(provider, {
      tenant: template.id,
      refusalEvents: additions.flatMap((addition) => addition.refusalEvents),
      log,
      onSuspicious: (ctx) => options.onSuspicious(tenant, ctx),
    });
    return provider;
  };

  let changes: ReadonlyMap<string, ClientChange> = new Map();
  let built: { readonly version: string; readonly provider: Provider } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<Provider> | undefined;
  const look = async (): Promise<Provider> => {
    // Without Redis, verifiers still get the last known keys.
    const orKnown = <T>(read: Promise<T>, known: T): Promise<T> =>
      read.catch((error: unknown) => {
        if (built === undefined) throw error;
        log.trouble(toError(error));
        return known;
      });
    const [found, read] = await Promise.all([
      orKnown(keys.current(), { jwks: [], hintKeys: [], version: built?.version ?? '' }),
      orKnown(clientChanges.read(), changes),
    ]);
    changes = read;
    for (const id of clients.keys()) {
      const why = changes.get(id)?.unreadable;
      if (why !== undefined) log.trouble(new Error(`client ${id} has no valid secret: ${why}`));
    }
    const { version } = found;
    if (built?.version !== version) built = { version, provider: build(found) };
    lookedAt = now();
    return built.provider;
  };

  const tenant: Tenant = {
    id: template.id,
    settings: template,
    issuer,
    path,
    clients,
    store,
    subjectOf: createPairwise(serviceKey, template.id, options.ownerOf),
    secretsOf: async (client) => {
      await tenant.provider();
      return client === undefined ? {} : secretsOf(client, changes.get(client.id));
    },
    provider: async () => {
      if (built !== undefined && now() - lookedAt < keysKnownMs) return built.provider;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
  return tenant;
};

/**
 * @param options Asked at first use: the public address may be known only when the server listens.
 */
export const openTenants = (options: () => TenantsOptions): Tenants => {
  let opened: readonly Tenant[] | undefined;
  const open = (known: TenantsOptions): readonly Tenant[] =>
    known.templates.map((template, index) => openTenant(template, index === 0, known));
  const all = (): readonly Tenant[] => {
    opened ??= open(options());
    return opened;
  };
  const main = (): Tenant => {
    const [first] = all();
    if (first === undefined) throw new Error('There is no tenant');
    return first;
  };
  return {
    get all() {
      return all();
    },
    get main() {
      return main();
    },
    at: (id) =>
      id === undefined
        ? main()
        : all()
            .slice(1)
            .find((tenant) => tenant.id === id),
    find: (id) => all().find((tenant) => tenant.id === id),
    findByIssuer: (issuer) => all().find((tenant) => tenant.issuer === issuer),
  };
};
