/**
 * The serialNumbers of a number's owners: `identity:<msisdn>` of the first, `:v2` of the next.
 *
 * A serialNumber belongs to one owner of one number for ever: `holder:<serialNumber>` claims it.
 */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { createBoundedCache } from './bounded-cache.ts';
import { damaged } from './key-records.ts';
import type { CustodyStore } from './ports.ts';
import { versionName } from './revocations.ts';
import type { createSealer } from './sealed-record.ts';

const serialAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const randomSerialNumber = (): string =>
  `MIDCHE${Array.from({ length: 10 }, () => serialAlphabet[randomInt(serialAlphabet.length)]).join('')}`;

const identitySchema = z.object({
  serialNumber: z.string().regex(/^MIDCHE[A-Z0-9]{10}$/),
  /** Since when the number has this owner, milliseconds since the epoch. */
  since: z.number().default(0),
});
export type Identity = z.infer<typeof identitySchema>;

/** Oldest first. */
type Owners = readonly [Identity, ...Identity[]];

export const createIdentities = ({
  store,
  sealer,
  now,
  cached,
}: {
  readonly store: Pick<CustodyStore, 'get' | 'setIfAbsent'>;
  readonly sealer: ReturnType<typeof createSealer>;
  readonly now: () => number;
  /** The most numbers that are remembered. */
  readonly cached: number;
}) => {
  const remembered = createBoundedCache<Promise<Owners>>(cached);

  /** When a process dies or loses the race after its claim, that number stays unused. */
  const claimSerialNumber = async (msisdn: string): Promise<string> => {
    for (;;) {
      const serialNumber = randomSerialNumber();
      if ((await store.setIfAbsent(`holder:${serialNumber}`, msisdn)) === msisdn)
        return serialNumber;
    }
  };

  const nameOf = (msisdn: string, version: number): string =>
    versionName(`identity:${msisdn}`, version);

  const open = async (name: string, stored: string): Promise<Identity> => {
    const record = identitySchema.safeParse((await sealer.open(name, stored)).payload);
    if (!record.success) throw damaged(name);
    return record.data;
  };

  const make = async (msisdn: string, version: number): Promise<Identity> => {
    const name = nameOf(msisdn, version);
    const since = version === 1 ? 0 : now();
    const payload: Identity = { serialNumber: await claimSerialNumber(msisdn), since };
    return open(name, await store.setIfAbsent(name, await sealer.seal({ name, payload })));
  };

  const read = async (msisdn: string, version: number): Promise<Identity | undefined> => {
    const stored = await store.get(nameOf(msisdn, version));
    return stored === undefined ? undefined : open(nameOf(msisdn, version), stored);
  };

  /** Reads all owners of the number from the store. Creates the first one. */
  const load = async (msisdn: string): Promise<Owners> => {
    const owners: [Identity, ...Identity[]] = [(await read(msisdn, 1)) ?? (await make(msisdn, 1))];
    for (;;) {
      const next = await read(msisdn, owners.length + 1);
      if (next === undefined) return owners;
      owners.push(next);
    }
  };

  return {
    /** Reads the present owner from the store, and the serialNumbers of the former ones. */
    presentOf: async (
      msisdn: string,
    ): Promise<Identity & { readonly former: readonly string[] }> => {
      const owners = await load(msisdn);
      const present = owners.at(-1) ?? owners[0];
      return { ...present, former: owners.slice(0, -1).map(({ serialNumber }) => serialNumber) };
    },
    /** @param at Milliseconds since the epoch. */
    ownerAt: async (msisdn: string, at: number): Promise<Identity> => {
      const owners = await remembered.get(msisdn, () => load(msisdn));
      return owners.findLast(({ since }) => since <= at) ?? owners[0];
    },
    /** The number has a new owner. @returns The name of the new record. */
    follow: async (msisdn: string): Promise<string> => {
      const version = (await load(msisdn)).length + 1;
      await make(msisdn, version);
      return nameOf(msisdn, version);
    },
    forget: remembered.delete,
  };
};
