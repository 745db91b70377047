/**
 * The service key: 32 random bytes under which everything in the store is sealed, or from which it
 * is derived (`sealed-record.ts`, `sealed-json.ts`). It is made at the first start, or by a command
 * before it, never changes and never leaves the store unsealed.
 *
 * The store has it once for each master key that opens the service, sealed under that key. So a
 * master key is replaced without touching a transaction, a session or a `sub`: the new one is
 * added, the processes are started with it one after the other, and the old one is removed. A
 * process needs its master key at its start alone.
 *
 * A store of before has no such record: there, the master key itself is the service key.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { deriveKey } from './sealed-json.ts';
import { createSealer } from './sealed-record.ts';

/** The stored copies of the service key, by the id of the master key that opens each. */
export interface KeySlots {
  read(): Promise<Readonly<Record<string, string>>>;
  /** Writes unless there is any slot. */
  begin(id: string, slot: string): Promise<void>;
  write(id: string, slot: string): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
}

const recordName = 'service-key';
const slotSchema = z.object({ since: z.number(), sealed: z.string() });
const payloadSchema = z.base64url().transform((text) => Buffer.from(text, 'base64url'));

/** Names a master key, and tells nothing about it: 16 characters. */
export const masterKeyId = (masterKey: Uint8Array): string =>
  deriveKey(masterKey, 'paraph master key id').toString('base64url').slice(0, 16);

const toSlot = async (
  masterKey: Uint8Array,
  serviceKey: Uint8Array,
  since: number,
): Promise<string> => {
  const payload = Buffer.from(serviceKey).toString('base64url');
  const sealed = await createSealer(masterKey).seal({ name: recordName, payload });
  return JSON.stringify({ since, sealed });
};

/** The master key does not open the service. The message is written for operators. */
export class OtherMasterKeyError extends Error {}

/**
 * @returns Undefined where the store has no such record.
 * @throws OtherMasterKeyError
 */
export const openServiceKey = async (
  slots: Pick<KeySlots, 'read'>,
  masterKey: Uint8Array,
): Promise<Uint8Array | undefined> => {
  const found = await slots.read();
  const slot = found[masterKeyId(masterKey)];
  if (slot !== undefined) {
    const { sealed } = slotSchema.parse(JSON.parse(slot));
    return payloadSchema.parse((await createSealer(masterKey).open(recordName, sealed)).payload);
  }
  if (Object.keys(found).length === 0) return undefined;
  throw new OtherMasterKeyError(
    'The master key does not open the stored service-key record: this is not the master key of this service, or it was replaced (paraph master-key). After a power cut during paraph master-key rotate, master.key.before has the key.',
  );
};

/**
 * Opens the service key. In a new store it is made first.
 *
 * @param first The bytes of a service key that is made; undefined for random ones.
 * @throws OtherMasterKeyError
 */
export const ensureServiceKey = async (
  slots: KeySlots,
  masterKey: Uint8Array,
  { first, now }: { readonly first: Uint8Array | undefined; readonly now: () => number },
): Promise<Uint8Array> => {
  const present = await openServiceKey(slots, masterKey);
  if (present !== undefined) return present;
  await slots.begin(
    masterKeyId(masterKey),
    await toSlot(masterKey, first ?? randomBytes(32), now()),
  );
  // Another process may have been first.
  return ensureServiceKey(slots, masterKey, { first, now });
};

/** A master key that opens the service. `since`: milliseconds since the epoch. */
export interface ListedKey {
  readonly id: string;
  readonly since: number;
}

export const listMasterKeys = async (
  slots: Pick<KeySlots, 'read'>,
): Promise<readonly ListedKey[]> =>
  Object.entries(await slots.read())
    .map(([id, slot]) => ({ id, since: slotSchema.parse(JSON.parse(slot)).since }))
    .toSorted((one, other) => one.since - other.since);

/** Lets the master key `added` open the service, too. Safe to call again. */
export const addMasterKey = async (
  slots: KeySlots,
  serviceKey: Uint8Array,
  added: Uint8Array,
  now: () => number,
): Promise<void> => {
  if ((await openServiceKey(slots, added).catch(() => undefined)) !== undefined) return;
  await slots.write(masterKeyId(added), await toSlot(added, serviceKey, now()));
};

/**
 * No other master key opens the service any more.
 * @returns The number of other master keys that were removed.
 * @throws OtherMasterKeyError
 */
export const removeOtherMasterKeys = async (
  slots: KeySlots,
  masterKey: Uint8Array,
): Promise<number> => {
  // A master key that does not open the service must not remove those that do.
  if ((await openServiceKey(slots, masterKey)) === undefined) return 0;
  const others = (await listMasterKeys(slots))
    .map(({ id }) => id)
    .filter((id) => id !== masterKeyId(masterKey));
  await slots.remove(others);
  return others.length;
};
