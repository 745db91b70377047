import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { KeyVault } from '../../packages/pki/src/ports.ts';
import {
  ensureServiceKey,
  type KeySlots,
  openServiceKey,
} from '../../packages/pki/src/service-key.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createCustodyStore } from './custody-store.ts';

/** Makes the first slot only if there is none: two processes may try at the same time. */
const beginScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end`;

/** The service key in Redis, once for each master key that opens it. */
export const createKeySlots = (redis: RedisClient, prefix: string): KeySlots => {
  const key = `${prefix}:master-keys`;
  return {
    read: () => redis.hgetall(key),
    begin: async (id, slot) => {
      await redis.eval(beginScript, 1, key, id, slot);
    },
    write: async (id, slot) => {
      await redis.hset(key, id, slot);
    },
    remove: async (ids) => {
      if (ids.length > 0) await redis.hdel(key, ...ids);
    },
  };
};

/**
 * Returns the service key of a store, and makes one for a new store. In a store of an earlier
 * release, with an authority and no service key, the master key becomes the service key.
 *
 * @param first The service key for a new store. Default: random bytes.
 * @throws OtherMasterKeyError, or an Error, when the master key is not that of the store. Then
 *   nothing is written.
 */
export const unlockStore = async ({
  redis,
  prefix,
  masterKey,
  vault,
  first,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly masterKey: Uint8Array;
  readonly vault: KeyVault;
  readonly first?: Uint8Array | undefined;
  readonly now: () => number;
}): Promise<Uint8Array> => {
  const slots = createKeySlots(redis, prefix);
  const custody = createKeyCustody({
    store: createCustodyStore(redis, prefix),
    serviceKey: masterKey,
    vault,
    now,
  });
  // Read in this order: a process that starts at the same time makes the slot, then the authority.
  const isOld = await custody.hasAuthority();
  const present = await openServiceKey(slots, masterKey);
  if (present !== undefined) return present;
  if (isOld) await custody.trust();
  return ensureServiceKey(slots, masterKey, { first: isOld ? masterKey : first, now });
};
