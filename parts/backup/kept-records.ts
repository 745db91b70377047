/**
 * Keeps data that a restore over the same service must not remove: the records of its key custody,
 * and its audit log, which has the orders after the backup.
 *
 * A revocation is permanent, and a number that was given to a new person must not go back to the
 * former one with the next signature. Orders after the backup are not in the backup, but in the
 * Redis that is replaced. Records of the custody are written once and never changed, and `revoked`
 * only grows (docs/storage.md). So Redis has the records of the backup, and more: later
 * certificates, keys, revocations and persons. They stay, and the backup adds missing ones. This
 * also keeps versions apart: with the revocation of a later certificate but without its record, the
 * device would get a new key.
 *
 * This works when the backup is of the same service, which is recognised by the first root. An
 * empty Redis has no such data, and a file beside it would not help: the data directory is lost
 * together with a private Redis, and processes with another Redis mostly have none. Then the
 * command says so.
 */
import { z } from 'zod';
import type { RedisClient } from '../../src/redis/connect.ts';
import { custodyBeginning } from '../../src/redis/key-names.ts';
import type { BackupRecord } from './backup-file.ts';
import { auditKeyOf, phoneKeyOf } from './own-keys.ts';

/** Counts of kept data from after the backup. */
export interface Kept {
  readonly revocations: number;
  /** The number of phone numbers that have a new person. */
  readonly newPersons: number;
}

const fieldsAtOnce = 500;
/** Whether a field of `revoked` is a serial number. Others are permissions for next versions. */
const isSerial = (field: string): boolean => !field.startsWith('next:');

async function* fieldsOf(
  redis: RedisClient,
  key: string,
): AsyncGenerator<readonly (readonly [field: string, value: string])[]> {
  let cursor = '0';
  do {
    const [next, page] = await redis.hscan(key, cursor, 'COUNT', fieldsAtOnce);
    cursor = next;
    yield Array.from({ length: page.length / 2 }, (_, index) => [
      page[index * 2] ?? '',
      page[index * 2 + 1] ?? '',
    ]);
  } while (cursor !== '0');
}

const rootSchema = z.object({ certificate: z.string() });

const certificateIn = (text: string | null): string | undefined => {
  try {
    return rootSchema.parse(JSON.parse(text ?? '')).certificate;
  } catch {
    return undefined;
  }
};

/** @param probe A temporary key for values of the backup, because only Redis can decode them. */
export const createKeeper = (redis: RedisClient, prefix: string, probe: string) => {
  const beginning = custodyBeginning(prefix);
  const auditKey = auditKeyOf(prefix);
  const rootKey = `${beginning}ca:root`;
  const revokedKey = `${beginning}revoked`;
  const person = new RegExp(`^${beginning.replaceAll('.', '\\.')}identity:(\\d+):v\\d+$`);
  /** Serial numbers of revoked certificates that are not revoked in the backup. */
  const revoked = new Set<string>();
  /** The numbers that have a later person, by the key of the record. */
  const persons = new Map<string, string>();

  /** Keys of the audit log that the backup has brought. */
  const brought = new Set<string>();

  const isAudit = (name: string): boolean => name === auditKey || name.startsWith(`${auditKey}:`);

  /** Whether a log exists already. Then it has all entries of the backup. */
  const isThere = async (name: string): Promise<boolean> => {
    if (!brought.has(name) && (await redis.exists(name)) === 1) return true;
    brought.add(name);
    return false;
  };

  const withProbe = async <T>(value: Buffer, work: () => Promise<T>): Promise<T> => {
    try {
      await redis.restore(probe, 0, value, 'REPLACE');
      return await work();
    } finally {
      await redis.del(probe);
    }
  };

  return {
    /** The record by which a service is recognised. */
    isRoot: ({ key }: BackupRecord): boolean => key.toString('latin1') === rootKey,

    /** @param root The record of the backup. */
    isSameService: async (root: BackupRecord | undefined): Promise<boolean> => {
      const present = certificateIn(await redis.get(rootKey));
      const { value } = root ?? {};
      if (present === undefined || value === undefined) return false;
      return withProbe(value, async () => certificateIn(await redis.get(probe)) === present);
    },

    /** Whether a key of the replaced Redis stays. To be asked once for each key. */
    keeps: (key: string): boolean => {
      const msisdn = person.exec(key)?.[1];
      if (msisdn !== undefined) persons.set(key, msisdn);
      return key.startsWith(beginning) || isAudit(key);
    },

    begin: async (): Promise<void> => {
      for await (const page of fieldsOf(redis, revokedKey)) {
        for (const [field] of page) if (isSerial(field)) revoked.add(field);
      }
    },

    /** Merges a record. @returns False for a record that is restored like any other. */
    merge: async ({ key, value }: BackupRecord): Promise<boolean> => {
      const name = key.toString('latin1');
      persons.delete(name);
      if (isAudit(name)) return isThere(name);
      if (name !== revokedKey || value === undefined) return false;
      await withProbe(value, async () => {
        for await (const page of fieldsOf(redis, probe)) {
          await Promise.all(page.map(([field, entry]) => redis.hsetnx(revokedKey, field, entry)));
          for (const [field] of page) revoked.delete(field);
        }
      });
      return true;
    },

    /** Removes the phones of former persons, and returns the counts. */
    end: async (): Promise<Kept> => {
      const numbers = new Set(persons.values());
      for (const msisdn of numbers) await redis.del(phoneKeyOf(prefix, msisdn));
      return { revocations: revoked.size, newPersons: numbers.size };
    },
  };
};
