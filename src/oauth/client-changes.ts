/**
 * What operators have changed about a tenant's clients while the service runs: new secrets, ended
 * ones, and until when logins no longer count. All processes follow within two seconds.
 *
 * Stored in one hash, `<prefix>:oidc:<tenant>:clients`, with a field for each changed client,
 * sealed under the service key. A new secret has 256 random bits, so its SHA-256 is enough; scrypt
 * is for secrets that people choose.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { createSealer } from '../../packages/pki/src/sealed-record.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { TenantStorage } from './signing-keys.ts';

interface Secret {
  /** SHA-256 in base64url; undefined for the secret of the configuration file. */
  readonly digest?: string;
  /** Milliseconds since the epoch; 0 for the secret of the file. */
  readonly since: number;
}

export interface ClientChange {
  /**
   * By `secretHash` of the file: the secrets that count beside it, newest last. Another one in the
   * file counts by itself; processes that still have an earlier one keep to what was decided for
   * it.
   */
  readonly files?: Readonly<Record<string, readonly Secret[]>>;
  /**
   * Logins that ended earlier give no tokens any more; milliseconds since the epoch, a full second.
   */
  readonly endedBefore?: number | undefined;
  /**
   * Why the record cannot be opened; never stored. No secret counts, and no login before it was
   * found.
   */
  readonly unreadable?: string;
}

/** What an offered secret is compared with. */
export interface ClientSecrets {
  readonly stored?: string | undefined;
  readonly digests?: readonly string[];
}

type Changed = Pick<OauthClient, 'id' | 'secretHash'>;

const secretBytes = 32;
/** The new secret and the one that is being replaced. */
const maxSecrets = 2;
/** The file's secrets with decisions that are remembered: the latest ones. */
const maxFiles = 50;

const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');

export const isDigestOf = (digest: string, secret: string): boolean =>
  timingSafeEqual(Buffer.from(digest), Buffer.from(digestOf(secret)));

/** Newest last. */
export const listSecrets = (
  { secretHash }: Changed,
  change: ClientChange = {},
): readonly Secret[] => {
  if (change.unreadable !== undefined) return [];
  const inFile = secretHash === undefined ? [] : [{ since: 0 }];
  return change.files?.[secretHash ?? ''] ?? inFile;
};

/** @param others What becomes of decisions for earlier secrets of the file. */
const withSecrets = (
  { secretHash = '' }: Changed,
  { files = {} }: ClientChange,
  secrets: readonly Secret[],
  others: (earlier: readonly Secret[]) => readonly Secret[] = (earlier) => earlier,
): ClientChange => {
  const earlier = Object.entries(files)
    .filter(([fileHash]) => fileHash !== secretHash)
    .map(([fileHash, list]) => [fileHash, others(list)] as const);
  return {
    files: Object.fromEntries([...earlier, [secretHash, secrets] as const].slice(-maxFiles)),
  };
};

export const secretsOf = (client: Changed, change: ClientChange | undefined): ClientSecrets => {
  const secrets = listSecrets(client, change);
  return {
    stored: secrets.some(({ digest }) => digest === undefined) ? client.secretHash : undefined,
    digests: secrets.flatMap(({ digest }) => digest ?? []),
  };
};

/** Two commands at the same time: the later one begins again. */
const replaceScript = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`;

export const createClientChanges = ({
  redis,
  prefix,
  tenant,
  serviceKey,
  now,
}: TenantStorage & { readonly now: () => number }) => {
  const sealer = createSealer(serviceKey);
  const key = `${prefix}:oidc:${tenant}:clients`;
  const recordName = (id: string): string => `oidc:${tenant}:client:${id}`;

  const unreadable = new Map<string, ClientChange>();

  const open = async (id: string, sealed: string): Promise<ClientChange> => {
    try {
      const { payload } = await sealer.open(recordName(id), sealed);
      unreadable.delete(id);
      return payload as ClientChange;
    } catch (error) {
      const known = unreadable.get(id);
      if (known !== undefined) return known;
      const [seconds] = await redis.time();
      const found = { endedBefore: Number(seconds) * 1000, unreadable: toError(error).message };
      unreadable.set(id, found);
      return found;
    }
  };

  const update = async (
    client: Changed,
    decide: (before: ClientChange) => ClientChange,
  ): Promise<ClientChange> => {
    const sealed = (await redis.hget(key, client.id)) ?? '';
    const found = sealed === '' ? {} : await open(client.id, sealed);
    const before =
      found.unreadable === undefined
        ? found
        : { endedBefore: found.endedBefore, ...withSecrets(client, {}, []) };
    const after = { ...before, ...decide(before) };
    const next = await sealer.seal({ name: recordName(client.id), payload: after });
    const replaced = await redis.eval(replaceScript, 1, key, client.id, sealed, next);
    return replaced === 1 ? after : update(client, decide);
  };

  return {
    read: async (): Promise<ReadonlyMap<string, ClientChange>> => {
      const fields = Object.entries(await redis.hgetall(key));
      return new Map(
        await Promise.all(fields.map(async ([id, text]) => [id, await open(id, text)] as const)),
      );
    },
    /** The newest secret so far stays valid beside the new one; an older one ends. */
    rotate: async (client: Changed) => {
      const secret = randomBytes(secretBytes).toString('base64url');
      const added = { digest: digestOf(secret), since: now() };
      const change = await update(client, (before) =>
        withSecrets(client, before, [...listSecrets(client, before), added].slice(-maxSecrets)),
      );
      return { secret, change };
    },
    /** Ends all secrets but the newest one, or all of them. */
    disable: (client: Changed, which: 'older' | 'all'): Promise<ClientChange> =>
      update(client, (before) => {
        const left = which === 'all' ? [] : listSecrets(client, before).slice(-1);
        return withSecrets(client, before, left, () => []);
      }),
    /**
     * Ends what logins so far have given: codes, access tokens, refresh tokens. Logins are dated in
     * whole seconds, so this takes until the next one begins, by the clock of Redis.
     */
    endTokens: async (client: Changed): Promise<ClientChange> => {
      const [seconds, microseconds] = (await redis.time()).map(Number) as [number, number];
      const change = await update(client, () => ({ endedBefore: (seconds + 1) * 1000 }));
      await delay(1001 - Math.floor(microseconds / 1000));
      return change;
    },
  };
};

export type ClientChanges = ReturnType<typeof createClientChanges>;
