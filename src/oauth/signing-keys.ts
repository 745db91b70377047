/**
 * The keys that sign a tenant's ID tokens: one RSA, one P-256 and one Ed25519 key at a time.
 *
 * Relying parties cache the key set. So a rotation publishes a key first, signs with it later and
 * withdraws the old key last. A rotation only stores the next generation and the time from which it
 * signs; everything else follows from the clock, in every process alike.
 *
 * Stored in one hash, `<prefix>:oidc:<tenant>:keys`, with a field for each key: `RSA:0`, `EC:0`,
 * `OKP:0`, `RSA:1` … A field is written once. It holds the time from which the key signs, and the
 * private key, sealed under the master key.
 */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import { createSealer } from '../pki/sealed-record.ts';
import type { RedisClient } from '../redis/connect.ts';

const keyTypes = ['RSA', 'EC', 'OKP'] as const;
type KeyType = (typeof keyTypes)[number];

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

/** `jwk` is the private key. */
type StoredKey = SigningKey & { readonly jwk: JWK; readonly field: string };

interface Field {
  readonly signsFrom: number;
  readonly sealed: string;
}

const generate = promisify(generateKeyPair);

const generators: Readonly<Record<KeyType, () => Promise<{ readonly privateKey: KeyObject }>>> = {
  RSA: () => generate('rsa', { modulusLength: 2048 }),
  EC: () => generate('ec', { namedCurve: 'P-256' }),
  OKP: () => generate('ed25519'),
};

const order: Record<SigningKey['state'], number> = { signing: 0, published: 1, retiring: 2 };

export const createSigningKeys = ({
  redis,
  prefix,
  tenant,
  masterKey,
  settings,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly masterKey: Uint8Array;
  readonly settings: { readonly publishSeconds: number; readonly keepSeconds: number };
  readonly now: () => number;
}) => {
  const sealer = createSealer(masterKey);
  const hash = `${prefix}:oidc:${tenant}:keys`;
  const recordName = (field: string): string => `oidc:${tenant}:${field}`;
  const opened = new Map<string, JWK>();

  const offer = async (kty: KeyType, generation: number, signsFrom: number): Promise<void> => {
    const jwk = await exportJWK((await generators[kty]()).privateKey);
    const kid = await calculateJwkThumbprint(jwk);
    const field = `${kty}:${generation}`;
    const sealed = await sealer.seal({ name: recordName(field), payload: { ...jwk, kid, use: 'sig' } });
    await redis.hsetnx(hash, field, JSON.stringify({ signsFrom, sealed } satisfies Field));
  };

  const open = async (field: string, sealed: string): Promise<JWK> => {
    const jwk = opened.get(field) ?? ((await sealer.open(recordName(field), sealed)).payload as JWK);
    opened.set(field, jwk);
    return jwk;
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
    const keys = generations.map(async ({ field, signsFrom, sealed }, index): Promise<StoredKey> => {
      const successors = generations.slice(index + 1).map((key) => key.signsFrom);
      const jwk = await open(field, sealed);
      const older = index < signing ? 'retiring' : 'published';
      return {
        kid: jwk.kid ?? '',
        kty,
        jwk,
        field,
        state: index === signing ? 'signing' : older,
        signsFrom,
        withdrawnAt:
          successors.length === 0 ? undefined : Math.min(...successors) + settings.keepSeconds * 1000,
      };
    });
    return Promise.all(keys);
  };

  const isPublic = ({ withdrawnAt }: StoredKey): boolean => withdrawnAt === undefined || withdrawnAt > now();

  const readAll = async (): Promise<readonly StoredKey[]> => {
    const fields = await redis.hgetall(hash);
    const lists = await Promise.all(keyTypes.map((kty) => readKeys(kty, fields)));
    return lists.flat().sort((one, other) => order[one.state] - order[other.state]);
  };

  /** Leaves the private key out. */
  const toPublic = ({ jwk: _, field: __, ...key }: StoredKey): SigningKey => key;

  /**
   * Makes the first generation where there is none.
   *
   * @returns The private keys, the signing one of each type first, because the library takes the
   *   first that fits; `version` changes when the set or the signing key changes.
   */
  const current = async (): Promise<{ readonly jwks: readonly JWK[]; readonly version: string }> => {
    const keys = (await readAll()).filter(isPublic);
    if (!keyTypes.every((kty) => keys.some((key) => key.kty === kty))) {
      await Promise.all(keyTypes.map((kty) => offer(kty, 0, 0)));
      return current();
    }
    return {
      // Copies, because the library changes the keys that it is given.
      jwks: keys.map(({ jwk }) => ({ ...jwk })),
      version: keys.map(({ kid, state }) => `${kid}=${state}`).join(' '),
    };
  };

  return {
    current,
    list: async (): Promise<readonly SigningKey[]> => (await readAll()).filter(isPublic).map(toPublic),
    /**
     * Stores the next generation. @param publishSeconds How long it is published before it signs.
     */
    rotate: async (publishSeconds = settings.publishSeconds): Promise<readonly SigningKey[]> => {
      const fields = await redis.hgetall(hash);
      const signsFrom = now() + publishSeconds * 1000;
      await Promise.all(
        keyTypes.map(async (kty) => {
          const last = readGenerations(kty, fields).at(-1);
          await offer(kty, (last?.generation ?? -1) + 1, last === undefined ? 0 : signsFrom);
        }),
      );
      const keys = await readAll();
      const withdrawn = keys.filter((key) => !isPublic(key)).map(({ field }) => field);
      if (withdrawn.length > 0) await redis.hdel(hash, ...withdrawn);
      return keys.filter(isPublic).map(toPublic);
    },
  };
};

export type SigningKeys = ReturnType<typeof createSigningKeys>;
