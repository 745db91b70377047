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
 * The certificate authority and the users' keys, kept in a store that several processes share.
 *
 * There is no set-up step and no lock. Whoever needs a thing that is not there makes one and offers it to the store;
 * the store keeps the first offer, and everybody, its maker included, goes on with what the store holds. Two
 * processes that start at once thus end up with one authority and one key per owner.
 *
 * | record | holds |
 * |---|---|
 * | `ca:root`, `ca:issuing` | JSON: certificate in clear (base64 DER), private key sealed |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>` | the same, for one SSCD |
 * | `user:<msisdn>:<sscdId>:<EC or RSA>:expired` | the same, with a certificate that is over |
 * | `identity:<msisdn>` | sealed: the user's serialNumber, the same for all SSCDs and for life |
 * | `holder:<serialNumber>` | msisdn that has claimed the serialNumber, so that no two users share one |
 * | `chain:<id>` | name of the user record whose certificate, with the two authorities', hashes to the id |
 *
 * Sealed means a compact JWE under the master key, bound to the record's name and certificate (`sealed-record.ts`).
 * A chain record holds no certificates: three quarters of each chain would be the same two, once per user.
 */
const generate = promisify(generateKeyPair);

const newKey = async (algorithm: KeyAlgorithm): Promise<KeyObject> => {
  const { privateKey } =
    algorithm === 'EC'
      ? await generate('ec', { namedCurve: 'P-256' })
      : await generate('rsa', { modulusLength: 2048 });
  return privateKey;
};

const serialAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const randomSerialNumber = (): string =>
  `MIDCHE${Array.from({ length: 10 }, () => serialAlphabet[randomInt(serialAlphabet.length)]).join('')}`;

const userRecordName = ({ msisdn, sscdId, algorithm, expired }: KeyOwner): string => {
  // Digits alone keep record names of different owners apart.
  if (!/^\d{1,15}$/.test(msisdn)) throw new TypeError('msisdn must be digits');
  return `user:${msisdn}:${sscdId}:${algorithm}${expired ? ':expired' : ''}`;
};

const keyRecord = z.object({ certificate: z.base64(), key: z.string() });
const identityRecord = z.object({ serialNumber: z.string().regex(/^MIDCHE[A-Z0-9]{10}$/) });

const damaged = (name: string): Error => new Error(`the stored ${recordKind(name)} record is damaged`);

const readCertificateOf = (name: string, stored: string): { certificate: Uint8Array; key: string } => {
  let json: unknown;
  try {
    json = JSON.parse(stored);
  } catch {
    throw damaged(name);
  }
  const record = keyRecord.safeParse(json);
  if (!record.success) throw damaged(name);
  return { certificate: Buffer.from(record.data.certificate, 'base64'), key: record.data.key };
};

const thumbprint = (certificate: Uint8Array): string =>
  hash('sha256', certificate, 'buffer').toString('base64url');

const chainOf = (user: Uint8Array, issuing: Authority, root: Authority): CertificateChain => {
  const certificates = [user, issuing.certificate, root.certificate] as const;
  const digest = hash('sha256', Buffer.concat(certificates), 'buffer');
  return { id: digest.subarray(0, 12).toString('base64url'), certificates };
};

/** From the certificate, which is what signatures show; the identity record only serves to make new ones. */
const serialNumberIn = (certificate: Uint8Array): string => {
  const fields = readCertificate(certificate);
  const serialNumber = fields && onlyAttribute(fields.subject, objectIdentifiers.serialNumber);
  if (serialNumber === undefined) throw damaged('user');
  return serialNumber;
};

const hourMs = 3_600_000;
/** How long an expired certificate has been over. */
const overMs = 30 * 24 * hourMs;

/**
 * @param masterKey      32 bytes; the same in every process that shares the store.
 * @param now            Milliseconds since 1970: dates of certificates that are created.
 * @param userKeysCached Users' keys held in this process; the least recently used go first.
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
  const authorities = createBoundedCache<Promise<Authority>>(2);
  const userKeys = createBoundedCache<Promise<UserKey>>(userKeysCached);
  const chains = createBoundedCache<Promise<CertificateChain | undefined>>(userKeysCached);
  const serialNumbers = createBoundedCache<Promise<string>>(userKeysCached);

  /** An hour back, so that a verifier whose clock is a little slow does not see a certificate from the future. */
  const startOfValidity = (): Date => new Date(now() - hourMs);

  const firstOf = async (name: string, create: () => Promise<string>): Promise<string> =>
    (await store.get(name)) ?? (await store.setIfAbsent(name, await create()));

  const keyAndCertificate = async (
    name: string,
    algorithm: KeyAlgorithm,
    certify: (privateKey: KeyObject) => Uint8Array | Promise<Uint8Array>,
  ): Promise<Authority> => {
    const stored = await firstOf(name, async () => {
      const privateKey = await newKey(algorithm);
      const certificate = await certify(privateKey);
      const key = await sealer.seal({
        name,
        payload: privateKey.export({ format: 'jwk' }),
        certificateThumbprint: thumbprint(certificate),
      });
      return JSON.stringify({ certificate: Buffer.from(certificate).toString('base64'), key });
    });
    const { certificate, key } = readCertificateOf(name, stored);
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

  /** A process that dies, or loses the race, after its claim leaves a number that nobody will ever have. */
  const claimSerialNumber = async (msisdn: string): Promise<string> => {
    for (;;) {
      const serialNumber = randomSerialNumber();
      if ((await store.setIfAbsent(`holder:${serialNumber}`, msisdn)) === msisdn) return serialNumber;
    }
  };

  const loadSerialNumber = async (msisdn: string): Promise<string> => {
    const name = `identity:${msisdn}`;
    const stored = await firstOf(name, async () =>
      sealer.seal({ name, payload: { serialNumber: await claimSerialNumber(msisdn) } }),
    );
    const record = identityRecord.safeParse((await sealer.open(name, stored)).payload);
    if (!record.success) throw damaged(name);
    return record.data.serialNumber;
  };

  const serialNumberOf = (msisdn: string): Promise<string> =>
    serialNumbers.get(msisdn, () => loadSerialNumber(msisdn));

  const loadUserKey = async (name: string, owner: KeyOwner): Promise<UserKey> => {
    const [rootAuthority, issuingAuthority] = await Promise.all([root(), issuing()]);
    const { certificate, privateKey } = await keyAndCertificate(name, owner.algorithm, async (key) => {
      const start = owner.expired ? yearsAfter(new Date(now() - overMs), -3) : startOfValidity();
      const serialNumber = await serialNumberOf(owner.msisdn);
      return createUserCertificate({ serialNumber, publicKey: key }, issuingAuthority, start);
    });
    const chain = chainOf(certificate, issuingAuthority, rootAuthority);
    // Written at every load: the process that created the key may have died between the two records.
    await store.setIfAbsent(`chain:${chain.id}`, name);
    await chains.get(chain.id, async () => chain);
    return { algorithm: owner.algorithm, privateKey, chain, serialNumber: serialNumberIn(certificate) };
  };

  const loadChain = async (id: string): Promise<CertificateChain | undefined> => {
    const name = await store.get(`chain:${id}`);
    if (name === undefined) return undefined;
    const stored = await store.get(name);
    if (stored === undefined) throw damaged('chain');
    const chain = chainOf(readCertificateOf(name, stored).certificate, await issuing(), await root());
    if (chain.id !== id) throw damaged('chain');
    return chain;
  };

  return {
    serialNumberOf,
    userKey: async (owner) => {
      const name = userRecordName(owner);
      return userKeys.get(name, () => loadUserKey(name, owner));
    },
    chain: (id) => chains.get(id, () => loadChain(id)),
    hasAuthority: async () => (await store.get('ca:root')) !== undefined,
    trust: async () => [(await root()).certificate],
  };
};
