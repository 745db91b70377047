import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import {
  createAuthorities,
  type FirstRoot,
  isIssuedAs,
  renewedBeforeMs,
  type ServiceKind,
} from './authorities.ts';
import { createBoundedCache } from './bounded-cache.ts';
import { createUserCertificate, yearsAfter } from './certificate.ts';
import type { Pointers } from './extensions.ts';
import { createIdentities } from './identities.ts';
import { assertDigits, createIssued, fieldsOf } from './issued.ts';
import { createKeyRecords, damaged, type KeyRecord } from './key-records.ts';
import { ownVault } from './key-vault.ts';
import type {
  CertificateChain,
  CustodyStore,
  KeyCustody,
  KeyOwner,
  KeyVault,
  ServiceKey,
  UserKey,
} from './ports.ts';
import { createRevocations, readVersionName, versionName } from './revocations.ts';
import { createSealer } from './sealed-record.ts';

/**
 * The certificate authority and the users' keys, in a store that several processes share.
 *
 * There is no set-up and no lock. A process that needs a record and finds none makes one and offers
 * it to the store. The store keeps the first offer, and all processes use what the store holds: two
 * that start at once share one authority and one key per owner. What follows a record (a renewal, a
 * new owner of the number) is a record of the same name with `:v2`, `:v3` …
 *
 * | record | holds |
 * |---|---|
 * | `ca:root`, `ca:issuing` | JSON: certificate in clear (base64 DER), private key sealed; `issuer` names the record of the authority that issued it, unless it is the first |
 * | `ca:root:v2:cross` | JSON: certificate of the second root's key, issued by the first root |
 * | `service:evidence`, `service:seals`, `service:time-stamps` | as an authority, for the keys of evidence records, of seals and of time stamps |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>` | the same, for one SSCD; without `key` when the key is on a phone |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>:expired` | the same, with an expired certificate |
 * | `identity:<msisdn>` | sealed: the serialNumber of the number's owner, the same for all SSCDs and for life |
 * | `holder:<serialNumber>` | the msisdn that claimed the serialNumber, so that each has one user |
 * | `chain:<id>` | names of the records whose certificates hash to the id, user first; one name stands for that one, `ca:issuing` and `ca:root` |
 * | `serial:<hex>` | name of the user record whose certificate has that serial number |
 * | `revoked` | a hash, see revocations.ts |
 *
 * Sealed means a compact JWE under the service key, bound to the record's name and certificate
 * (sealed-record.ts). A chain record holds no certificates, because most of each chain is the same.
 */
const userRecordName = ({ msisdn, sscdId, algorithm, expired }: KeyOwner): string => {
  assertDigits(msisdn);
  return `user:${msisdn}:${sscdId}:${algorithm}${expired ? ':expired' : ''}`;
};

const toChain = (records: readonly KeyRecord[]): CertificateChain => {
  const [user, issuing, ...above] = records.map(({ certificate }) => certificate);
  const root = above.pop();
  if (user === undefined || issuing === undefined || root === undefined) throw damaged('chain');
  const certificates = [user, issuing, ...above, root] as const;
  const digest = hash('sha256', Buffer.concat(certificates), 'buffer');
  return { id: digest.subarray(0, 12).toString('base64url'), certificates };
};

const firstAuthorities = 'ca:issuing ca:root';

/** The names of a chain's records, as they are stored. */
const chainText = (records: readonly KeyRecord[]): string => {
  const [user = '', ...above] = records.map(({ name }) => name);
  return above.join(' ') === firstAuthorities ? user : [user, ...above].join(' ');
};

/** The names of a chain's records, read from the stored text. */
export const chainNames = (text: string): readonly string[] =>
  (text.includes(' ') ? text : `${text} ${firstAuthorities}`).split(' ');

/** A certificate that is asked for as expired has ended this many milliseconds ago. */
const expiredForMs = renewedBeforeMs;

/**
 * @param serviceKey     32 bytes; the same in every process that shares the store.
 * @param now            Milliseconds since the epoch: dates of new certificates.
 * @param vault          Where private keys are made and used. Default: in this process.
 * @param pointersOf     Where new certificates say that an authority publishes. Default: nowhere.
 * @param userKeysCached The most keys of users that this process keeps.
 * @param firstRoot      Shared by custodies of one process on one store, so that each notices when
 *                       the store is another one. Default: of this custody alone.
 * @throws TypeError When the service key has another length.
 */
export const createKeyCustody = ({
  store,
  serviceKey,
  now,
  vault = ownVault,
  pointersOf = () => undefined,
  userKeysCached = 10_000,
  firstRoot = {},
}: {
  readonly store: CustodyStore;
  readonly serviceKey: Uint8Array;
  readonly now: () => number;
  readonly vault?: KeyVault;
  readonly pointersOf?: (authority: string) => Pointers | undefined;
  readonly userKeysCached?: number;
  readonly firstRoot?: FirstRoot;
}): KeyCustody => {
  const sealer = createSealer(serviceKey);
  const records = createKeyRecords({ store, sealer, vault });
  const identities = createIdentities({ store, sealer, now, cached: userKeysCached });
  const userKeys = createBoundedCache<Promise<{ key: UserKey; renewedAt: number }>>(userKeysCached);
  const chains = createBoundedCache<Promise<CertificateChain | undefined>>(userKeysCached);
  const revocations = createRevocations({
    store,
    assertStore: () => authorities.assertPresent(),
    now,
    onNew: (record) => {
      const { base } = readVersionName(record);
      userKeys.delete(base);
      identities.forget(base.replace('identity:', ''));
    },
  });
  const authorities = createAuthorities({ records, revocations, now, pointersOf, firstRoot });

  const certifyUser = async (serialNumber: string, publicKey: KeyObject, expired = false) => {
    const issuing = await authorities.currentOf('issuing');
    const issue = authorities.issueBy(issuing);
    const notBefore = expired ? yearsAfter(new Date(now() - expiredForMs), -3) : issue.notBefore;
    const certificate = await createUserCertificate({ serialNumber, publicKey }, issuing, {
      ...issue,
      notBefore,
    });
    return { certificate, ...authorities.issuedBy(issuing) };
  };

  /** Done at every load: the process that made the user's record may have died before this. */
  const noteCertificate = async (record: KeyRecord): Promise<CertificateChain> => {
    const all = [record, ...(await authorities.above(record.issuer))];
    const chain = toChain(all);
    await Promise.all([
      store.setIfAbsent(`chain:${chain.id}`, chainText(all)),
      store.setIfAbsent(`serial:${fieldsOf(record.certificate).serial}`, record.name),
    ]);
    return (await chains.get(chain.id, async () => chain)) ?? chain;
  };

  const loadUserKey = async (base: string, owner: KeyOwner) => {
    // First of all: under another master key, or in another store, nothing must be written.
    await authorities.currentOf('issuing');
    await revocations.refresh(0);
    // Of the store: what is made here must bear the serialNumber of the present owner.
    const { serialNumber, former } = await identities.presentOf(owner.msisdn);
    const isOver = ({ version, certificate }: KeyRecord): boolean => {
      const present = fieldsOf(certificate);
      if (former.includes(present.serialNumber) || revocations.isAllowed(base, version + 1))
        return true;
      const isEnding = !owner.expired && present.notAfter - renewedBeforeMs <= now();
      return isEnding && revocations.of(present.serial) === undefined;
    };
    const versions = await records.versions(base, isOver, (name, version) =>
      records.make(name, version, owner.algorithm, ({ publicKey }) =>
        certifyUser(serialNumber, publicKey, owner.expired),
      ),
    );
    const record = versions.at(-1) ?? versions[0];
    const { serial, notAfter, ...certified } = fieldsOf(record.certificate);
    const revocation = revocations.of(serial);
    const key: UserKey = {
      algorithm: owner.algorithm,
      privateKey: (await records.open(record)).privateKey,
      chain: await noteCertificate(record),
      serialNumber: certified.serialNumber,
      revocation,
    };
    const isRenewed = !owner.expired && revocation === undefined;
    return { key, renewedAt: isRenewed ? notAfter - renewedBeforeMs : Number.POSITIVE_INFINITY };
  };

  const loadChain = async (id: string): Promise<CertificateChain | undefined> => {
    const text = await store.get(`chain:${id}`);
    if (text === undefined) return undefined;
    const found = await Promise.all(chainNames(text).map((name) => records.read(name, 1)));
    const chain = found.every((each) => each !== undefined) ? toChain(found) : undefined;
    if (chain?.id !== id) throw damaged('chain');
    return chain;
  };

  const userAs = async (serial: string): Promise<readonly KeyRecord[]> => {
    const name = await store.get(`serial:${serial}`);
    const record = name === undefined ? undefined : await records.read(name, 1);
    return record === undefined ? [] : [record];
  };

  const issued = createIssued({ store, records, revocations, identities, now });

  const certify: KeyCustody['certify'] = async (owner, publicKey) => {
    const algorithm = publicKey.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC';
    const base = userRecordName({ ...owner, algorithm, expired: false });
    await authorities.currentOf('issuing');
    await revocations.refresh(0);
    const { serialNumber } = await identities.presentOf(owner.msisdn);
    const isGood = ({ certificate }: KeyRecord): boolean => {
      const fields = fieldsOf(certificate);
      return (
        fields.serialNumber === serialNumber &&
        fields.notAfter - renewedBeforeMs > now() &&
        revocations.of(fields.serial) === undefined &&
        new X509Certificate(certificate).publicKey.equals(publicKey)
      );
    };
    const certified = await certifyUser(serialNumber, publicKey);
    for (let version = 1; ; version += 1) {
      const name = versionName(base, version);
      const present = await records.read(name, version);
      if (present !== undefined && isGood(present)) return noteCertificate(present);
      if (present !== undefined) continue;
      if (revocations.isBlocked(base)) await revocations.allow(name);
      const record = await records.offer(name, version, certified);
      if (isGood(record)) return noteCertificate(record);
    }
  };

  const serviceKeyOf = async (kind: ServiceKind): Promise<ServiceKey> => {
    await revocations.refresh();
    return authorities.serviceKey(kind);
  };

  return {
    ...issued,
    serialNumberOf: async (msisdn, at = Number.POSITIVE_INFINITY) => {
      await revocations.refresh();
      return (await identities.ownerAt(msisdn, at)).serialNumber;
    },
    userKey: async (owner) => {
      const base = userRecordName(owner);
      await revocations.refresh();
      const load = () => userKeys.get(base, () => loadUserKey(base, owner));
      const { key, renewedAt } = await load();
      if (renewedAt > now()) return key;
      userKeys.delete(base);
      return (await load()).key;
    },
    certify,
    renew: async (owner, certificate) => {
      const { serial } = fieldsOf(certificate);
      /** The revocation of this certificate, or of one that has followed it. */
      const findRevocation = async () => {
        const all = await issued.certificatesOf({ ...owner, algorithm: 'EC' });
        const from = all.findIndex((each) => each.serial === serial);
        return all.slice(Math.max(from, 0)).find(({ revocation }) => revocation !== undefined)
          ?.revocation;
      };
      if ((await findRevocation()) !== undefined) return undefined;
      const next = await certify(owner, new X509Certificate(certificate).publicKey);
      const revocation = await findRevocation();
      if (revocation === undefined) return next;
      // Whoever revoked it may have read the list before there was the next one.
      await issued.revokeCertificate(
        { serial: fieldsOf(next.certificates[0]).serial },
        revocation.reason,
      );
      return undefined;
    },
    evidenceKey: () => serviceKeyOf('evidence'),
    sealKey: () => serviceKeyOf('seals'),
    timeStampKey: () => serviceKeyOf('time-stamps'),
    chain: (id) => chains.get(id, () => loadChain(id)),
    keyOf: async (id) => {
      const text = await store.get(`chain:${id}`);
      const [name = ''] = text === undefined ? [] : chainNames(text);
      const record = text === undefined ? undefined : await records.read(name, 1);
      const chain = record?.key === undefined ? undefined : await loadChain(id);
      if (record === undefined || chain === undefined) return undefined;
      await revocations.refresh();
      const { privateKey } = await records.open(record);
      const { serial, serialNumber } = fieldsOf(record.certificate);
      return {
        algorithm: privateKey.publicKey.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC',
        privateKey,
        chain,
        serialNumber,
        revocation: revocations.of(serial),
      };
    },
    hasAuthority: async () => (await store.get('ca:root')) !== undefined,
    unusableKeys: async () => {
      const names = await Promise.all(['ca:', 'service:'].map((start) => store.namesOf(start)));
      const tried = names.flat().map(async (name) => {
        try {
          const record = await records.read(name, 1);
          // A cross-certificate has no key of its own.
          if (record?.key === undefined) return [];
          const { privateKey } = await records.open(record);
          await privateKey.sign(Buffer.from(name), 'ES256');
          return [];
        } catch (error) {
          return [{ name, why: error instanceof Error ? error.message : String(error) }];
        }
      });
      return (await Promise.all(tried))
        .flat()
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
    trust: async () => (await authorities.versionsOf('root')).map(({ certificate }) => certificate),

    authorities: async () => {
      await revocations.refresh();
      return [
        ...(await authorities.versionsOf('root')),
        ...(await authorities.versionsOf('issuing')),
      ];
    },
    revocationOf: async (serial) => {
      await revocations.refresh();
      return revocations.of(serial);
    },
    statusOf: async (authority, serial) => {
      await revocations.refresh();
      const revocation = revocations.of(serial, authority.id);
      if (revocation !== undefined) return revocation;
      const found = authority.id.startsWith('root-')
        ? await authorities.present()
        : await userAs(serial);
      return found.some(({ certificate }) => isIssuedAs(certificate, authority, serial))
        ? 'good'
        : 'unknown';
    },
    revokedSerials: async () => {
      await revocations.refresh();
      return revocations.list();
    },
    rollOver: async (kind) => {
      await revocations.refresh(0);
      await revocations.allow(await authorities.nextName(kind));
      return (await authorities.currentOf(kind)).id;
    },
  };
};
