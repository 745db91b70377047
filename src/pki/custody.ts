import {
  createPrivateKey,
  generateKeyPair,
  hash,
  type JsonWebKey,
  type KeyObject,
  randomInt,
} from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { KeyAlgorithm } from '../protocol/requests.ts';
import { createBoundedCache } from './bounded-cache.ts';
import {
  type Authority,
  createEvidenceCertificate,
  createIssuingCertificate,
  createRootCertificate,
  createUserCertificate,
  yearsAfter,
} from './certificate.ts';
import { onlyAttribute, readCertificate } from './certificate-fields.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import type { CertificateChain, CustodyStore, KeyCustody, KeyOwner, UserKey } from './ports.ts';
import { createSealer, recordKind } from './sealed-record.ts';

/**
 * The certificate authority and the users' keys, in a store that several processes share.
 *
 * There is no set-up and no lock. A process that needs a record and finds none makes one and offers
 * it to the store. The store keeps the first offer, and all processes use what the store holds: two
 * that start at once share one authority and one key per owner.
 *
 * | record | holds |
 * |---|---|
 * | `ca:root`, `ca:issuing` | JSON: certificate in clear (base64 DER), private key sealed |
 * | `service:evidence` | the same, for the key that signs evidence records |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>` | the same, for one SSCD |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>:expired` | the same, with an expired certificate |
 * | `identity:<msisdn>` | sealed: the user's serialNumber, the same for all SSCDs and for life |
 * | `holder:<serialNumber>` | the msisdn that claimed the serialNumber, so that each has one user |
 * | `chain:<id>` | name of the user record whose chain of certificates hashes to the id |
 *
 * Sealed means a compact JWE under the master key, bound to the record's name and certificate
 * (sealed-record.ts). A chain record holds no certificates, because most of each chain is the same.
 */
const generate = promisify(generateKeyPair);

const newKey = async (algorithm: KeyAlgorithm): Promise<KeyObject> =>
  (algorithm === 'EC'
    ? await generate('ec', { namedCurve: 'P-256' })
    : await generate('rsa', { modulusLength: 2048 })
  ).privateKey;

const serialAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const randomSerialNumber = (): string =>
  `MIDCHE${Array.from({ length: 10 }, () => serialAlphabet[randomInt(serialAlphabet.length)]).join('')}`;

const userRecordName = ({ msisdn, sscdId, algorithm, expired }: KeyOwner): string => {
  // Nothing but digits, so that names of different owners differ.
  if (!/^\d{1,15}$/.test(msisdn)) throw new TypeError('msisdn must be digits');
  return `user:${msisdn}:${sscdId}:${algorithm}${expired ? ':expired' : ''}`;
};

const keyRecord = z.object({ certificate: z.base64(), key: z.string() });
const identityRecord = z.object({ serialNumber: z.string().regex(/^MIDCHE[A-Z0-9]{10}$/) });

const damaged = (name: string): Error => new Error(`the stored ${recordKind(name)} record is damaged`);

const readKeyRecord = (name: string, stored: string): { certificate: Uint8Array; key: string } => {
  try {
    const { certificate, key } = keyRecord.parse(JSON.parse(stored));
    return { certificate: Buffer.from(certificate, 'base64'), key };
  } catch {
    throw damaged(name);
  }
};

const thumbprint = (certificate: Uint8Array): string => hash('sha256', certificate, 'base64url');

const toChain = (user: Uint8Array, issuing: Authority, root: Authority): CertificateChain => {
  const certificates = [user, issuing.certificate, root.certificate] as const;
  const digest = hash('sha256', Buffer.concat(certificates), 'buffer');
  return { id: digest.subarray(0, 12).toString('base64url'), certificates };
};

/** From the certificate: the identity record only serves to make new ones. */
const readSerialNumber = (certificate: Uint8Array): string => {
  const fields = readCertificate(certificate);
  const serialNumber = fields && onlyAttribute(fields.subject, objectIdentifiers.serialNumber);
  if (serialNumber === undefined) throw damaged('user');
  return serialNumber;
};

const hourMs = 3_600_000;
/** How long ago an expired certificate ended. */
const expiredForMs = 30 * 24 * hourMs;

/**
 * @param masterKey      32 bytes; the same in every process that shares the store.
 * @param now            Milliseconds since the epoch: dates of new certificates.
 * @param userKeysCached How many users' keys this process keeps.
 * @throws TypeError When the master key has another length.
 */
export const createKeyCustody = ({
  store,
  masterKey,
  now,
  userKeysCached = 10_000,
}: {
  readonly store: CustodyStore;
  readonly masterKey: Uint8Array;
  readonly now: () => number;
  readonly userKeysCached?: number;
}): KeyCustody => {
  const sealer = createSealer(masterKey);
  const authorities = createBoundedCache<Promise<Authority>>(3);
  const userKeys = createBoundedCache<Promise<UserKey>>(userKeysCached);
  const chains = createBoundedCache<Promise<CertificateChain | undefined>>(userKeysCached);
  const serialNumbers = createBoundedCache<Promise<string>>(userKeysCached);

  /** An hour back, so that a certificate is valid for a verifier whose clock is slow. */
  const startOfValidity = (): Date => new Date(now() - hourMs);

  const getOrCreate = async (name: string, create: () => Promise<string>): Promise<string> =>
    (await store.get(name)) ?? (await store.setIfAbsent(name, await create()));

  const keyAndCertificate = async (
    name: string,
    algorithm: KeyAlgorithm,
    certify: (privateKey: KeyObject) => Uint8Array | Promise<Uint8Array>,
  ): Promise<Authority> => {
    const stored = await getOrCreate(name, async () => {
      const privateKey = await newKey(algorithm);
      const certificate = await certify(privateKey);
      const key = await sealer.seal({
        name,
        payload: privateKey.export({ format: 'jwk' }),
        certificateThumbprint: thumbprint(certificate),
      });
      return JSON.stringify({ certificate: Buffer.from(certificate).toString('base64'), key });
    });
    const { certificate, key } = readKeyRecord(name, stored);
    const sealed = await sealer.open(name, key);
    if (sealed.certificateThumbprint !== thumbprint(certificate)) throw damaged(name);
    return {
      certificate,
      privateKey: createPrivateKey({ key: sealed.payload as JsonWebKey, format: 'jwk' }),
    };
  };

  const root = (): Promise<Authority> =>
    authorities.get('ca:root', () =>
      keyAndCertificate('ca:root', 'EC', (key) => createRootCertificate(key, startOfValidity())),
    );

  const issuing = (): Promise<Authority> =>
    authorities.get('ca:issuing', () =>
      keyAndCertificate('ca:issuing', 'EC', async (key) =>
        createIssuingCertificate(key, await root(), startOfValidity()),
      ),
    );

  const evidence = (): Promise<Authority> =>
    authorities.get('service:evidence', () =>
      keyAndCertificate('service:evidence', 'EC', async (key) =>
        createEvidenceCertificate(key, await root(), startOfValidity()),
      ),
    );

  /** When a process dies or loses the race after its claim, that number stays unused. */
  const claimSerialNumber = async (msisdn: string): Promise<string> => {
    for (;;) {
      const serialNumber = randomSerialNumber();
      if ((await store.setIfAbsent(`holder:${serialNumber}`, msisdn)) === msisdn) return serialNumber;
    }
  };

  const loadSerialNumber = async (msisdn: string): Promise<string> => {
    const name = `identity:${msisdn}`;
    const stored = await getOrCreate(name, async () =>
      sealer.seal({ name, payload: { serialNumber: await claimSerialNumber(msisdn) } }),
    );
    const record = identityRecord.safeParse((await sealer.open(name, stored)).payload);
    if (!record.success) throw damaged(name);
    return record.data.serialNumber;
  };

  const serialNumberOf: KeyCustody['serialNumberOf'] = (msisdn) =>
    serialNumbers.get(msisdn, () => loadSerialNumber(msisdn));

  const loadUserKey = async (name: string, owner: KeyOwner): Promise<UserKey> => {
    const [rootAuthority, issuingAuthority] = await Promise.all([root(), issuing()]);
    const { certificate, privateKey } = await keyAndCertificate(name, owner.algorithm, async (key) => {
      const start = owner.expired ? yearsAfter(new Date(now() - expiredForMs), -3) : startOfValidity();
      const serialNumber = await serialNumberOf(owner.msisdn);
      return createUserCertificate({ serialNumber, publicKey: key }, issuingAuthority, start);
    });
    const chain = toChain(certificate, issuingAuthority, rootAuthority);
    // Written at every load: the process that created the key may have died between the two
    // records.
    await store.setIfAbsent(`chain:${chain.id}`, name);
    await chains.get(chain.id, async () => chain);
    return { algorithm: owner.algorithm, privateKey, chain, serialNumber: readSerialNumber(certificate) };
  };

  const loadChain = async (id: string): Promise<CertificateChain | undefined> => {
    const name = await store.get(`chain:${id}`);
    if (name === undefined) return undefined;
    const stored = await store.get(name);
    if (stored === undefined) throw damaged('chain');
    const chain = toChain(readKeyRecord(name, stored).certificate, await issuing(), await root());
    if (chain.id !== id) throw damaged('chain');
    return chain;
  };

  return {
    serialNumberOf,
    userKey: async (owner) => {
      const name = userRecordName(owner);
      return userKeys.get(name, () => loadUserKey(name, owner));
    },
    evidenceKey: async () => {
      const [{ privateKey, certificate }, { certificate: rootCertificate }] = await Promise.all([
        evidence(),
        root(),
      ]);
      return { privateKey, certificates: [certificate, rootCertificate] };
    },
    chain: (id) => chains.get(id, () => loadChain(id)),
    hasAuthority: async () => (await store.get('ca:root')) !== undefined,
    trust: async () => [(await root()).certificate],
  };
};
