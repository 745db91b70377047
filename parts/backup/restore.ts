/**
 * Puts the keys of a backup into a Redis.
 *
 * The mark of the store is `restoring` from the first key to the last, and no process starts on
 * such a store. So a restore that was cut off must be repeated, and never counts as a service.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { nodesOf, type RedisClient } from '../../src/redis/connect.ts';
import { restoring, storeKeyOf } from '../../src/redis/key-names.ts';
import { type BackupEnd, type BackupRecord, readBackup } from './backup-file.ts';
import { createKeeper, type Kept } from './kept-records.ts';
import { createOwns, type Service } from './own-keys.ts';

/** A restore has failed. The message is a sentence for the operator. */
export class RestoreError extends Error {}

const together = 200;

/** Yields the keys of the service in batches. */
async function* ownKeys(redis: RedisClient, service: Service): AsyncGenerator<readonly Buffer[]> {
  const owns = createOwns(service);
  for (const node of nodesOf(redis)) {
    let cursor = '0';
    do {
      const [next, found] = await node.scanBuffer(cursor, 'COUNT', 1000);
      cursor = next.toString();
      yield found.filter((key) => owns(key.toString('latin1')));
    } while (cursor !== '0');
  }
}

/** Whether Redis has no key of this service. */
export const isEmpty = async (redis: RedisClient, service: Service): Promise<boolean> => {
  for await (const keys of ownKeys(redis, service)) if (keys.length > 0) return false;
  return true;
};

const inParts = async <T>(
  all: readonly T[],
  work: (each: T) => Promise<unknown>,
): Promise<void> => {
  for (let from = 0; from < all.length; from += together) {
    await Promise.all(all.slice(from, from + together).map(work));
  }
};

const probeMs = 60_000;
const probeKeyOf = (prefix: string): string => `${prefix}:restore-probe`;

/**
 * Checks that this Redis takes the values, and that its user may restore them: writes a record of
 * each type of the backup under a key that is deleted again. The first byte of DUMP is the type.
 */
const tryValues = async (
  redis: RedisClient,
  prefix: string,
  values: Iterable<Buffer>,
): Promise<void> => {
  const key = probeKeyOf(prefix);
  try {
    for (const value of values) await redis.restore(key, probeMs, value, 'REPLACE');
  } finally {
    await redis.del(key);
  }
};

const refusal = (error: unknown): Error => {
  const { message } = toError(error);
  if (/payload version or checksum|Bad data format/i.test(message)) {
    return new RestoreError(
      'This Redis is older than that of the backup: restore into one that is not.',
    );
  }
  if (/NOPERM/.test(message)) {
    return new RestoreError(
      'The user of REDIS_URL lacks rights that a restore needs: see docs/operations/backup.md.',
    );
  }
  return toError(error);
};

/**
 * Replaces the data of the service in Redis by the backup. Keys that have expired since the backup
 * are not restored. The key custody and the audit log of the same service stay (kept-records.ts).
 *
 * @returns The moment of the backup (ISO 8601), the number of keys now, and the counts of kept
 *   data, which are undefined when Redis did not have the same service.
 * @throws BackupFileError before anything is written; RestoreError, before that, too, when this
 *   Redis does not take the values of the backup.
 */
export const restoreBackup = async (
  redis: RedisClient,
  service: Service,
  { path, masterKey }: { readonly path: string; readonly masterKey: Uint8Array },
): Promise<{
  readonly at: BackupEnd['at'];
  readonly keys: number;
  readonly kept: Kept | undefined;
}> => {
  const { prefix } = service;
  const keeper = createKeeper(redis, prefix, probeKeyOf(prefix));
  let root: BackupRecord | undefined;
  // All of it is read before anything is written.
  const values = new Map<number | undefined, Buffer>();
  const { at } = await readBackup(path, masterKey, (records) => {
    for (const record of records) {
      const { value } = record;
      if (keeper.isRoot(record)) root = record;
      const smallest = values.get(value?.[0]);
      if (value !== undefined && value.length < (smallest?.length ?? Number.POSITIVE_INFINITY)) {
        values.set(value[0], value);
      }
    }
  });
  const storeKey = storeKeyOf(prefix);
  let store: BackupRecord | undefined;
  let isSame = false;
  const put = async (record: BackupRecord): Promise<void> => {
    const { key, expiresAtMs, value } = record;
    if (isSame && (await keeper.merge(record))) return;
    if (value === undefined) await redis.del(key);
    else await redis.restore(key, expiresAtMs, value, 'REPLACE', 'ABSTTL');
  };
  try {
    await tryValues(redis, prefix, values.values());
    isSame = await keeper.isSameService(root);
    if (isSame) await keeper.begin();
    await redis.set(storeKey, restoring);
    for await (const keys of ownKeys(redis, service)) {
      await inParts(
        keys.filter((key) => {
          const name = key.toString('latin1');
          return name !== storeKey && !(isSame && keeper.keeps(name));
        }),
        (key) => redis.unlink(key),
      );
    }
    await readBackup(path, masterKey, async (records) => {
      // The last record of a key counts, so two records of one key must not be sent together.
      const latest = new Map(records.map((record) => [record.key.toString('latin1'), record]));
      store = latest.get(storeKey) ?? store;
      latest.delete(storeKey);
      await inParts([...latest.values()], put);
    });
    const kept = isSame ? await keeper.end() : undefined;
    let keys = 0;
    for await (const found of ownKeys(redis, service)) keys += found.length;
    if (store === undefined)
      throw new RestoreError('The backup is of no service that has ever started.');
    await put(store);
    return { at, keys, kept };
  } catch (error) {
    throw refusal(error);
  }
};
