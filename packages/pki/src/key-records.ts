/**
 * Records with a certificate and its sealed key, in versions.
 *
 * A version is written once and never changes, so what it has signed can be completed for ever. The
 * current one is the last; it is followed when it is over, by whichever process notices first.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Authority } from './certificate.ts';
import type { CustodyStore, KeyAlgorithm, KeyVault, PrivateKey } from './ports.ts';
import { versionName } from './revocations.ts';
import { type createSealer, recordKind } from './sealed-record.ts';

export interface KeyRecord {
  /** The name of the record, with its version. */
  readonly name: string;
  readonly version: number;
  readonly certificate: Uint8Array;
  /** Sealed private key; undefined when the key lives elsewhere. */
  readonly key: string | undefined;
  /** Record of the authority that issued it; undefined for the first one. */
  readonly issuer: string | undefined;
}

/** A certificate that is to be stored. */
export interface Certified {
  readonly certificate: Uint8Array;
  readonly issuer?: string | undefined;
}

const recordSchema = z.object({
  certificate: z.base64(),
  key: z.string().optional(),
  issuer: z.string().optional(),
});

export const damaged = (name: string): Error =>
  new Error(`the stored ${recordKind(name)} record is damaged`);

const thumbprint = (certificate: Uint8Array): string => hash('sha256', certificate, 'base64url');

export const createKeyRecords = ({
  store,
  sealer,
  vault,
}: {
  readonly store: Pick<CustodyStore, 'get' | 'setIfAbsent'>;
  readonly sealer: ReturnType<typeof createSealer>;
  readonly vault: KeyVault;
}) => {
  const parse = (name: string, version: number, stored: string): KeyRecord => {
    try {
      const { certificate, key, issuer } = recordSchema.parse(JSON.parse(stored));
      return { name, version, certificate: Buffer.from(certificate, 'base64'), key, issuer };
    } catch {
      throw damaged(name);
    }
  };

  const read = async (name: string, version: number): Promise<KeyRecord | undefined> => {
    const stored = await store.get(name);
    return stored === undefined ? undefined : parse(name, version, stored);
  };

  /** Offers a record to the store. @returns The one that the store has. */
  const offer = async (
    name: string,
    version: number,
    { certificate, issuer }: Certified,
    key?: string,
  ): Promise<KeyRecord> => {
    const text = JSON.stringify({
      certificate: Buffer.from(certificate).toString('base64'),
      key,
      issuer,
    });
    return parse(name, version, await store.setIfAbsent(name, text));
  };

  return {
    read,
    offer,

    /** All versions of a record that there are, oldest first. Makes none. */
    present: async (base: string): Promise<readonly KeyRecord[]> => {
      const found: KeyRecord[] = [];
      for (;;) {
        const version = found.length + 1;
        const next = await read(versionName(base, version), version);
        if (next === undefined) return found;
        found.push(next);
      }
    },

    /** Makes a key and has it certified. */
    make: async (
      name: string,
      version: number,
      algorithm: KeyAlgorithm,
      certify: (privateKey: PrivateKey) => Promise<Certified>,
    ): Promise<KeyRecord> => {
      const { privateKey, kept } = await vault.make(name, algorithm);
      let record: KeyRecord | undefined;
      let key: string | undefined;
      try {
        const certified = await certify(privateKey);
        const certificateThumbprint = thumbprint(certified.certificate);
        key = await sealer.seal({ name, payload: kept, certificateThumbprint });
        record = await offer(name, version, certified, key);
        return record;
      } finally {
        // Not after an offer without an answer, which the store may have taken.
        if (record === undefined ? key === undefined : record.key !== key) vault.discard(kept);
      }
    },

    /** @throws When the master key does not open it, or its key lives elsewhere. */
    open: async ({ name, certificate, key }: KeyRecord): Promise<Authority> => {
      if (key === undefined)
        throw new Error(`the key of a ${recordKind(name)} record is not kept here`);
      const sealed = await sealer.open(name, key);
      if (sealed.certificateThumbprint !== thumbprint(certificate)) throw damaged(name);
      return {
        certificate,
        privateKey: vault.open(sealed.payload),
      };
    },

    /**
     * All versions of a record, the current one last. Makes the first, and the next one when the
     * last is over.
     *
     * @param isOver Whether a version may follow the given one.
     */
    versions: async (
      base: string,
      isOver: (last: KeyRecord) => boolean,
      makeNext: (name: string, version: number) => Promise<KeyRecord>,
    ): Promise<readonly [KeyRecord, ...KeyRecord[]]> => {
      const first = (await read(base, 1)) ?? (await makeNext(base, 1));
      const found: [KeyRecord, ...KeyRecord[]] = [first];
      for (let last = first; ; ) {
        const version = last.version + 1;
        const name = versionName(base, version);
        const next =
          (await read(name, version)) ?? (isOver(last) ? await makeNext(name, version) : undefined);
        if (next === undefined) return found;
        found.push(next);
        last = next;
      }
    },
  };
};

export type KeyRecords = ReturnType<typeof createKeyRecords>;
