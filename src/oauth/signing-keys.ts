/**
 * The keys that sign a tenant's ID tokens: one RSA, one P-256 and one Ed25519 at a time, so that clients can choose.
 *
 * A rotation publishes first, signs later and withdraws last. Relying parties cache the key set: a key that signs before they
 * have seen it breaks their logins, and one that vanishes while its tokens live breaks those. So a rotation only writes down
 * the next generation and from when on it signs. Everything else follows from the clock, in every process alike, and there
 * is nothing to be done at a later time that somebody could forget.
 *
 * One hash in Redis, `<prefix>:oidc:<tenant>:keys`, with a field for each key, `RSA:0`, `EC:0`, `OKP:0`, `RSA:1` …; a field is
 * written once, first writer wins, and holds when it begins to sign and the private key, sealed under the master key.
 */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import { createSealer } from '../pki/sealed-record.ts';
import type { RedisClient } from '../redis/connect.ts';

const keyTypes = ['RSA', 'EC', 'OKP'] as const;
type KeyType = (typeof keyTypes)[number];

/**
 * published  Others can see it; it does not sign yet.
 * signing    The one that signs.
 * retiring   Its successor signs; its tokens may still be about.
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

interface StoredKey extends SigningKey {
  /** Private. */
  readonly jwk: JWK;
  readonly field: string;
}

export interface SigningKeys {
  /** Makes the first generation where there is none. */
  current(): Promise<KeySet>;
  list(): Promise<readonly SigningKey[]>;
  /** Writes the next generation down. @param publishSeconds How long it is only published. */
  rotate(publishSeconds?: number): Promise<readonly SigningKey[]>;
}

export interface KeySet {
  /** Private keys, of each type the signing one first: the library takes the first that fits. */
  readonly jwks: readonly JWK[];
  /** Changes when the set, or what signs in it, changes. */
  readonly version: string;
}

const generate = promisify(generateKeyPair);

const generators: Readonly<Record<KeyType, () => Promise<{ readonly privateKey: KeyObject }>>> = {
  RSA: () => generate('rsa', { modulusLength: 2048 }),
  EC: () => generate('ec', { namedCurve: 'P-256' }),
  OKP: () => generate('ed25519'),
};

interface Field {
  readonly signsFrom: number;
  readonly sealed: string;
}

export interface SigningKeysOptions {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
  readonly masterKey: Uint8Array;
  readonly settings: { readonly publishSeconds: number; readonly keepSeconds: number };
  readonly now: () => number;
}

const order: Record<SigningKey['state'], number> = { signing: 0, published: 1, retiring: 2 };

export const createSigningKeys = (options: SigningKeysOptions): SigningKeys => {
  const { redis, prefix, tenant, masterKey, settings, now } = options;
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
    const known = opened.get(field);
    if (known !== undefined) return known;
    const jwk = (await sealer.open(recordName(field), sealed)).payload as JWK;
    opened.set(field, jwk);
    return jwk;
  };

  const fieldsOf = async (): Promise<ReadonlyMap<string, Field>> =>
    new Map(
      Object.entries(await redis.hgetall(hash)).map(([field, text]) => [field, JSON.parse(text) as Field]),
    );

  const generationsOf = (fields: ReadonlyMap<string, Field>, kty: KeyType) =>
    [...fields]
      .filter(([field]) => field.startsWith(`${kty}:`))
      .map(([field, stored]) => ({ field, ...stored, generation: Number(field.slice(kty.length + 1)) }))
      .sort((one, other) => one.generation - other.generation);

  const keysOf = async (kty: KeyType, fields: ReadonlyMap<string, Field>): Promise<readonly StoredKey[]> => {
    const time = now();
    const generations = generationsOf(fields, kty);
    const signing = generations.findLastIndex(({ signsFrom }) => signsFrom <= time);
    const stateOf = (index: number): SigningKey['state'] => {
      if (index === signing) return 'signing';
      return index < signing ? 'retiring' : 'published';
    };
    const keys = generations.map(async ({ field, signsFrom, sealed }, index): Promise<StoredKey> => {
      const successors = generations.slice(index + 1).map((key) => key.signsFrom);
      const jwk = await open(field, sealed);
      return {
        kid: jwk.kid ?? '',
        kty,
        jwk,
        field,
        state: stateOf(index),
        signsFrom,
        withdrawnAt:
          successors.length === 0 ? undefined : Math.min(...successors) + settings.keepSeconds * 1000,
      };
    });
    return Promise.all(keys);
  };

  const isPublic = ({ withdrawnAt }: StoredKey): boolean => withdrawnAt === undefined || withdrawnAt > now();

  const all = async (): Promise<readonly StoredKey[]> => {
    const fields = await fieldsOf();
    const lists = await Promise.all(keyTypes.map((kty) => keysOf(kty, fields)));
    return lists.flat().sort((one, other) => order[one.state] - order[other.state]);
  };

  /** Nothing of the private key. */
  const shown = ({ jwk: _, field: __, ...key }: StoredKey): SigningKey => key;

  const current = async (): Promise<KeySet> => {
    const keys = (await all()).filter(isPublic);
    if (!keyTypes.every((kty) => keys.some((key) => key.kty === kty))) {
      await Promise.all(keyTypes.map((kty) => offer(kty, 0, 0)));
      return current();
    }
    return {
      // The library completes what it is given.
      jwks: keys.map(({ jwk }) => ({ ...jwk })),
      version: keys.map(({ kid, state }) => `${kid}=${state}`).join(' '),
    };
  };

  return {
    current,
    list: async () => (await all()).filter(isPublic).map(shown),
    rotate: async (publishSeconds = settings.publishSeconds) => {
      const fields = await fieldsOf();
      const signsFrom = now() + publishSeconds * 1000;
      await Promise.all(
        keyTypes.map(async (kty) => {
          const last = generationsOf(fields, kty).at(-1);
          await offer(kty, (last?.generation ?? -1) + 1, last === undefined ? 0 : signsFrom);
        }),
      );
      const keys = await all();
      const withdrawn = keys.filter((key) => !isPublic(key)).map(({ field }) => field);
      if (withdrawn.length > 0) await redis.hdel(hash, ...withdrawn);
      return keys.filter(isPublic).map(shown);
    },
  };
};
