/**
 * The keys that sign a tenant's ID tokens: one RSA, one P-256 and one Ed25519 key at a time.
 *
 * Relying parties cache the key set. So a rotation publishes a key first, signs with it later and
 * withdraws the old key last. A rotation only stores the next generation and the time from which it
 * signs; everything else follows from the clock, in every process alike.
 *
 * Clients bring old ID tokens back as hints: at a logout, or to say whom they expect. So the public
 * key is known for longer than it is in the key set, for as long as people may stay logged in.
 *
 * Stored in one hash, `<prefix>:oidc:<tenant>:keys`, with a field for each key: `RSA:0`, `EC:0`,
 * `OKP:0`, `RSA:1` … It holds the time from which the key signs, and the private key, or its name
 * in a token, sealed under the service key. The first rotation after the key was withdrawn leaves
 * the public key alone, and one after its last hint removes the field.
 */
import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import type { ExternalSigningKey } from 'oidc-provider';
import { ownVault } from '../../packages/pki/src/key-vault.ts';
import { type KeyType, KeyTypeError, type KeyVault } from '../../packages/pki/src/ports.ts';
import { createSealer } from '../../packages/pki/src/sealed-record.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { OauthSettings } from '../registry/oauth-client.ts';

const keyTypes = ['RSA', 'EC', 'OKP'] as const satisfies readonly KeyType[];

/**
 * published  In the key set; it does not sign yet.
 * signing    The one that signs.
 * retiring   Its successor signs; tokens that it signed may still be valid.
 */
export interface SigningKey {
  readonly kid: string;
  readonly kty: KeyType;
  readonly state: 'published' | 'signing' | 'retiring';
  /** Milliseconds since the epoch; 0 for the first generation. */
  readonly signsFrom: number;
  /** When it leaves the key set; undefined while it has no successor. */
  readonly withdrawnAt: number | undefined;
}

/** A signing key in the form that the library takes: with the private key, or a way to use it. */
export type ProviderKey = JWK | ExternalSigningKey;

interface OpenKey {
  readonly kid: string;
  /** Empty when only the public key is left. */
  readonly jwks: readonly ProviderKey[];
  readonly publicJwk: JWK;
  /** What {@link KeyVault.discard} needs. */
  readonly kept: unknown;
}

type StoredKey = SigningKey & OpenKey & { readonly field: string };

interface Field {
  readonly signsFrom: number;
  readonly sealed: string;
}

type Settings = Pick<
  OauthSettings,
  | 'keys'
  | 'singleSignOnSeconds'
  | 'accessTokenSeconds'
  | 'interactionSeconds'
  | 'refreshTokenSeconds'
>;

/** The session outlives the tokens that end with it. */
export const sessionSecondsOf = (
  settings: Omit<Settings, 'keys' | 'refreshTokenSeconds'>,
): number =>
  Math.max(settings.singleSignOnSeconds, settings.accessTokenSeconds, settings.interactionSeconds);

const order: Record<SigningKey['state'], number> = { signing: 0, published: 1, retiring: 2 };

/** The place in Redis of a tenant's keys and of the changes of its clients. */
export interface TenantStorage {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly serviceKey: Uint8Array;
}

export const createSigningKeys = ({
  redis,
  prefix,
  tenant,
  serviceKey,
  vault = ownVault,
  settings,
  now,
}: TenantStorage & {
  /** The vault that makes the keys. Default: in this process. */
  readonly vault?: KeyVault;
  readonly settings: Settings;
  readonly now: () => number;
}) => {
  const { publishSeconds: usualPublishSeconds, keepSeconds } = settings.keys;
  /** Seconds after a key's last signature in which its ID tokens can come back as hints. */
  const hintSeconds = Math.max(
    keepSeconds,
    sessionSecondsOf(settings),
    settings.refreshTokenSeconds,
  );
  const sealer = createSealer(serviceKey);
  const hash = `${prefix}:oidc:${tenant}:keys`;
  const recordName = (field: string): string => `oidc:${tenant}:${field}`;
  const opened = new Map<string, OpenKey>();
  /** The types of keys that the vault can make. */
  const made = new Set<KeyType>(keyTypes);

  const offer = async (kty: KeyType, generation: number, signsFrom: number): Promise<void> => {
    const field = `${kty}:${generation}`;
    const name = recordName(field);
    const key = await vault.make(name, kty).catch((error: unknown) => {
      // Few tokens know Ed25519. Without its key, logins work for all who do not ask for it.
      if (!(error instanceof KeyTypeError) || kty !== 'OKP') throw error;
      made.delete(kty);
      return undefined;
    });
    if (key === undefined) return;
    const { privateKey, kept } = key;
    const kid = await calculateJwkThumbprint(await exportJWK(privateKey.publicKey));
    const sealed = await sealer.seal({ name, payload: { ...Object(kept), kid, use: 'sig' } });
    const isFirst = await redis.hsetnx(
      hash,
      field,
      JSON.stringify({ signsFrom, sealed } satisfies Field),
    );
    if (isFirst === 0) vault.discard(kept);
  };

  /** Loaded for keys in a token alone: it brings the whole library of the provider. */
  const openInToken = async (kept: unknown, kid: string): Promise<readonly ProviderKey[]> =>
    (await import('./token-keys.ts')).createTokenKeys(vault.open(kept), kid);

  const exportPublic = (jwk: JWK): JWK =>
    createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'jwk' });

  const openKept = async (kept: JWK, kid: string): Promise<Pick<OpenKey, 'jwks' | 'publicJwk'>> => {
    if (kept.kty === undefined) {
      return {
        jwks: await openInToken(kept, kid),
        publicJwk: await exportJWK(vault.open(kept).publicKey),
      };
    }
    return { jwks: kept.d === undefined ? [] : [kept], publicJwk: exportPublic(kept) };
  };

  const open = async (field: string, sealed: string): Promise<OpenKey> => {
    const present = opened.get(field);
    if (present !== undefined) return present;
    const kept = (await sealer.open(recordName(field), sealed)).payload as JWK;
    const { kid = '' } = kept;
    const { jwks, publicJwk } = await openKept(kept, kid);
    const key = { kid, jwks, publicJwk: { ...publicJwk, kid }, kept };
    opened.set(field, key);
    return key;
  };

  /** Leaves the public key alone. */
  const retire = async ({ field, signsFrom, publicJwk, kept }: StoredKey): Promise<void> => {
    const sealed = await sealer.seal({ name: recordName(field), payload: publicJwk });
    await redis.hset(hash, field, JSON.stringify({ signsFrom, sealed } satisfies Field));
    opened.delete(field);
    vault.discard(kept);
  };

  const readGenerations = (kty: KeyType, fields: Readonly<Record<string, string>>) =>
    Object.entries(fields)
      .filter(([field]) => field.startsWith(`${kty}:`))
      .map(([field, text]) => ({
        field,
        ...(JSON.parse(text) as Field),
        generation: Number(field.slice(kty.length + 1)),
      }))
      .sort((one, other) => one.generation - other.generation);

  const readKeys = async (
    kty: KeyType,
    fields: Readonly<Record<string, string>>,
  ): Promise<readonly StoredKey[]> => {
    const generations = readGenerations(kty, fields);
    const signing = generations.findLastIndex(({ signsFrom }) => signsFrom <= now());
    const keys = generations.map(
      async ({ field, signsFrom, sealed }, index): Promise<StoredKey> => {
        const successors = generations.slice(index + 1).map((key) => key.signsFrom);
        const key = await open(field, sealed);
        const older = index < signing ? 'retiring' : 'published';
        return {
          ...key,
          kty,
          field,
          state: index === signing ? 'signing' : older,
          signsFrom,
          withdrawnAt:
            successors.length === 0 ? undefined : Math.min(...successors) + keepSeconds * 1000,
        };
      },
    );
    return Promise.all(keys);
  };

  const isPublic = ({ withdrawnAt }: StoredKey): boolean =>
    withdrawnAt === undefined || withdrawnAt > now();

  const mayVerifyHints = ({ withdrawnAt = 0 }: StoredKey): boolean =>
    withdrawnAt + (hintSeconds - keepSeconds) * 1000 > now();

  const readAll = async (): Promise<readonly StoredKey[]> => {
    const fields = await redis.hgetall(hash);
    const lists = await Promise.all(keyTypes.map((kty) => readKeys(kty, fields)));
    return lists.flat().sort((one, other) => order[one.state] - order[other.state]);
  };

  /** Leaves the private key out. */
  const toPublic = ({
    jwks: _,
    publicJwk: __,
    kept: ___,
    field: ____,
    ...key
  }: StoredKey): SigningKey => key;

  /**
   * Makes the first generation where there is none.
   *
   * @returns The private keys, the signing one of each type first, because the library takes the
   *   first that fits; the public keys that verify hints besides; `version` changes when either set
   *   or the signing key changes.
   */
  const current = async (): Promise<{
    readonly jwks: readonly ProviderKey[];
    readonly hintKeys: readonly JWK[];
    readonly version: string;
  }> => {
    const all = await readAll();
    const keys = all.filter(isPublic);
    const withdrawn = all.filter((key) => !isPublic(key) && mayVerifyHints(key));
    if (![...made].every((kty) => keys.some((key) => key.kty === kty))) {
      await Promise.all([...made].map((kty) => offer(kty, 0, 0)));
      return current();
    }
    return {
      // Copies, because the library changes the keys that it is given.
      jwks: keys.flatMap(({ jwks }) => jwks.map((key) => ('keyObject' in key ? key : { ...key }))),
      hintKeys: withdrawn.map(({ publicJwk }) => publicJwk),
      version: [
        ...keys.map(({ kid, state }) => `${kid}=${state}`),
        ...withdrawn.map(({ kid }) => `${kid}=withdrawn`),
      ].join(' '),
    };
  };

  return {
    current,
    list: async (): Promise<readonly SigningKey[]> =>
      (await readAll()).filter(isPublic).map(toPublic),
    /**
     * Stores the next generation. @param publishSeconds The time in which it is published and does
     * not yet sign.
     */
    rotate: async (publishSeconds = usualPublishSeconds): Promise<readonly SigningKey[]> => {
      const fields = await redis.hgetall(hash);
      const signsFrom = now() + publishSeconds * 1000;
      await Promise.all(
        [...made].map(async (kty) => {
          const last = readGenerations(kty, fields).at(-1);
          await offer(kty, (last?.generation ?? -1) + 1, last === undefined ? 0 : signsFrom);
        }),
      );
      const keys = await readAll();
      const withdrawn = keys.filter((key) => !isPublic(key));
      const over = withdrawn.filter((key) => !mayVerifyHints(key));
      await Promise.all(withdrawn.filter((key) => key.jwks.length > 0).map(retire));
      if (over.length > 0) await redis.hdel(hash, ...over.map(({ field }) => field));
      return keys.filter(isPublic).map(toPublic);
    },
  };
};

export type SigningKeys = ReturnType<typeof createSigningKeys>;
