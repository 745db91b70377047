/** The certificates of users after they were issued: listed, revoked, renewed, given up. */
import { X509Certificate } from 'node:crypto';
import { authorityId } from './authorities.ts';
import { onlyAttribute, readCertificate, serialOf } from './certificate-fields.ts';
import type { createIdentities } from './identities.ts';
import { damaged, type KeyRecord, type KeyRecords } from './key-records.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import type {
  CertificateTarget,
  CustodyStore,
  IssuedCertificate,
  KeyCustody,
  KeyOwner,
  RevocationReason,
} from './ports.ts';
import { type Revocations, readVersionName, versionName } from './revocations.ts';

export const assertDigits = (msisdn: string): void => {
  // Nothing but digits, so that names of different owners differ.
  if (!/^\d{1,15}$/.test(msisdn)) throw new TypeError('msisdn must be digits');
};

const userName = /^user:(\d{1,15}):([^:]+):(EC|RSA)(?::expired)?$/;

/** What a user's certificate says. */
export const fieldsOf = (certificate: Uint8Array) => {
  const fields = readCertificate(certificate);
  const serialNumber = fields && onlyAttribute(fields.subject, objectIdentifiers.serialNumber);
  if (fields === undefined || serialNumber === undefined) throw damaged('user');
  return {
    serial: serialOf(fields),
    serialNumber,
    notBefore: fields.notBefore.getTime(),
    notAfter: fields.notAfter.getTime(),
  };
};

export const createIssued = ({
  store,
  records,
  revocations,
  identities,
  now,
}: {
  readonly store: Pick<CustodyStore, 'get' | 'namesOf'>;
  readonly records: Pick<KeyRecords, 'read' | 'present'>;
  readonly revocations: Revocations;
  readonly identities: Pick<ReturnType<typeof createIdentities>, 'follow'>;
  readonly now: () => number;
}): Pick<
  KeyCustody,
  | 'certificatesOf'
  | 'revokeCertificate'
  | 'renewCertificates'
  | 'reassignNumber'
  | 'isRevoked'
  | 'ownerOf'
  | 'refresh'
> => {
  const read = (name: string): Promise<KeyRecord | undefined> =>
    records.read(name, readVersionName(name).version);

  const recordsOf = async (target: CertificateTarget): Promise<readonly KeyRecord[]> => {
    if ('msisdn' in target) assertDigits(target.msisdn);
    if ('sscdId' in target)
      return records.present(`user:${target.msisdn}:${target.sscdId}:${target.algorithm}`);
    const names =
      'msisdn' in target
        ? await store.namesOf(`user:${target.msisdn}:`)
        : [await store.get(`serial:${target.serial.toLowerCase()}`)].filter(
            (name) => name !== undefined,
          );
    const found = await Promise.all(names.map(read));
    return found.filter((each) => each !== undefined);
  };

  const issuedIn = ({ name, certificate }: KeyRecord): IssuedCertificate => {
    const { base, version } = readVersionName(name);
    const [, msisdn = '', sscdId = '', algorithm] = userName.exec(base) ?? [];
    if (algorithm === undefined) throw damaged('user');
    const fields = fieldsOf(certificate);
    return {
      msisdn,
      sscdId,
      algorithm: algorithm as KeyOwner['algorithm'],
      version,
      ...fields,
      revocation: revocations.of(fields.serial),
    };
  };

  const revoke = async (
    record: KeyRecord,
    reason: RevocationReason,
  ): Promise<IssuedCertificate | undefined> => {
    const issued = issuedIn(record);
    if (issued.notAfter <= now() || issued.revocation !== undefined) return undefined;
    const at = now();
    const authority = authorityId('issuing', record.issuer);
    const entry = { record: record.name, reason, at, authority, notAfter: issued.notAfter };
    return (await revocations.revoke(issued.serial, entry))
      ? { ...issued, revocation: { reason, at } }
      : undefined;
  };

  /** A renewal on a phone keeps the key. */
  const laterOfKey = async ({ name, certificate }: KeyRecord): Promise<readonly KeyRecord[]> => {
    const { base, version } = readVersionName(name);
    const { publicKey } = new X509Certificate(certificate);
    return (await records.present(base)).filter(
      (each) =>
        readVersionName(each.name).version > version &&
        new X509Certificate(each.certificate).publicKey.equals(publicKey),
    );
  };

  const revokeCertificate: KeyCustody['revokeCertificate'] = async (target, reason) => {
    const done: IssuedCertificate[] = [];
    // A renewal may offer the next one meanwhile. Once the last is revoked, it offers none.
    for (;;) {
      await revocations.refresh(0);
      const named = await recordsOf(target);
      const isOfKey = 'serial' in target && reason === 'keyCompromise';
      const more = isOfKey ? (await Promise.all(named.map(laterOfKey))).flat() : [];
      const revoked = await Promise.all(
        [...named, ...more].map((record) => revoke(record, reason)),
      );
      if (revoked.every((each) => each === undefined)) return done;
      done.push(...revoked.filter((each) => each !== undefined));
    }
  };

  return {
    certificatesOf: async (target) => {
      await revocations.refresh(0);
      return (await recordsOf(target))
        .map(issuedIn)
        .toSorted((one, other) => one.notBefore - other.notBefore || one.version - other.version);
    },
    revokeCertificate,
    renewCertificates: async (msisdn) => {
      await revocations.refresh(0);
      const names = (await recordsOf({ msisdn })).map(({ name }) => readVersionName(name));
      const last = new Map<string, number>();
      for (const { base, version } of names) last.set(base, Math.max(version, last.get(base) ?? 0));
      const blocked = [...last].filter(([base]) => revocations.isBlocked(base));
      for (const [base, version] of blocked)
        await revocations.allow(versionName(base, version + 1));
      return blocked.length;
    },
    reassignNumber: async (msisdn) => {
      assertDigits(msisdn);
      // Before a new owner is noted: this may be another store.
      await revocations.refresh(0);
      await revocations.allow(await identities.follow(msisdn));
      return revokeCertificate({ msisdn }, 'affiliationChanged');
    },
    isRevoked: ({ msisdn, sscdId, algorithm }) => {
      // Without the store the copy is what there is; what signs asks by itself.
      revocations.refresh().catch(() => undefined);
      return revocations.isBlocked(`user:${msisdn}:${sscdId}:${algorithm}`);
    },
    ownerOf: (msisdn) => {
      revocations.refresh().catch(() => undefined);
      const { version, at } = revocations.lastAllowed(`identity:${msisdn}`) ?? {
        version: 1,
        at: 0,
      };
      return { version, since: at };
    },
    refresh: () => revocations.refresh(),
  };
};
