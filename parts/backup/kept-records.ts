/**
 * What a restore over the service itself does not throw away: the records of its key custody, and
 * its audit log, which says what else was ordered after the backup.
 *
 * A revocation is for ever, and a number that was given to a new person must not go back to the
 * former one with the next signature. A backup knows nothing of what was ordered after it; the
 * Redis that is replaced does. Records of the custody are written once and never changed, and
 * `revoked` only grows (docs/storage.md), so what is there is what the backup has, and more: later
 * certificates, keys, revocations and persons. They stay, and the backup adds what is missing. That
 * also keeps versions apart: with the revocation of a later certificate but not its record, the
 * device would get a new key.
 *
 * It holds where the backup is of the same service, which the first root tells. A Redis that is
 * empty knows nothing, and a file beside it would not help: the data directory is lost together
 * with a private Redis, and processes at another Redis have none as a rule. There the command says
 * so.
 */
import { z } from 'zod';
import type { RedisClient } from '../../src/redis/connect.ts';
import { custodyBeginning } from '../../src/redis/key-names.ts';
import type { BackupRecord } from './backup-file.ts';
import { auditKeyOf, phoneKeyOf } from './own-keys.ts';

/** What was kept that came after the backup. */
export interface Kept {
  readonly revocations: number;
  /** Numbers that have a new person. */
  readonly newPersons: number;
}

const fieldsAtOnce = 500;
/** In `revoked`, permissions for next versions stand beside the serial numbers of certificates. */
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

/** @param probe A key for values of the backup, which Redis alone can read. */
export const createKeeper = (redis: RedisClient, prefix: string, probe: string) => {
  const beginning = custodyBeginning(prefix);
  const auditKey = auditKeyOf(prefix);
  const rootKey = `${beginning}ca:root`;
  const revokedKey = `${beginning}revoked`;
  const person = new RegExp(`^${beginning.replaceAll('.', '\\.')}identity:(\\d+):v\\d+$`);
  /** Of certificates that the backup does not know as revoked. */
  const revoked = new Set<string>();
  /** Later persons of numbers, by the key of their record. */
  const persons = new Map<string, string>();

  /** Keys of the audit log that the backup has brought. */
  const brought = new Set<string>();

  const isAudit = (name: string): boolean => name === auditKey || name.startsWith(`${auditKey}:`);

  /** A log that is there has all that the backup has of it. */
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

    /** Whether a key of the Redis that is replaced stays. Each is to be asked about once. */
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

    /** @returns False for a record that is restored as any other. */
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

    /** Phones of a former person are not those of the new one. */
    end: async (): Promise<Kept> => {
      const numbers = new Set(persons.values());
      for (const msisdn of numbers) await redis.del(phoneKeyOf(prefix, msisdn));
      return { revocations: revoked.size, newPersons: numbers.size };
    },
  };
};
