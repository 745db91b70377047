import type { KeyObject } from 'node:crypto';

/**
 * The algorithm of a signature, with SHA-256 where there is a choice. `ECDSA` is written as DER
 * (X.509, CMS); the others have their names and forms from RFC 7518 3 and RFC 8037 3.1.
 */
export type SigningAlgorithm = 'ECDSA' | 'ES256' | 'RS256' | 'PS256' | 'EdDSA';

/** A private key, in this process or in a token. */
export interface PrivateKey {
  readonly publicKey: KeyObject;
  /** @throws When the key is out of reach. */
  sign(data: Uint8Array, algorithm: SigningAlgorithm): Promise<Uint8Array>;
}

/** The algorithm of a key that signs for people: EC is P-256, RSA has 2048 bits. */
export type KeyAlgorithm = 'EC' | 'RSA';
/** The type of any key: that of a person's key, or OKP, which is Ed25519. */
export type KeyType = KeyAlgorithm | 'OKP';

/** A new key, before anybody uses it. */
export interface MadeKey {
  readonly privateKey: PrivateKey;
  /** What {@link KeyVault.open} needs. It may be the key itself: it is stored sealed. */
  readonly kept: unknown;
}

/** Makes private keys, and finds them again. */
export interface KeyVault {
  /**
   * @param name The name of the record that will hold the key.
   * @throws An error when the key cannot be made now; {@link KeyTypeError} when this vault cannot
   *   make the type.
   */
  make(name: string, type: KeyType): Promise<MadeKey>;
  /**
   * Opens a key. It works also while the key is out of reach.
   *
   * @param kept `kept` of a {@link MadeKey}, as parsed from JSON.
   * @throws An error when `kept` does not come from a vault.
   */
  open(kept: unknown): PrivateKey;
  /**
   * Discards a key that is no longer used. Does not wait, and never throws: a key that stays does
   * no harm.
   */
  discard(kept: unknown): void;
}

/** Keys of that type cannot be made where this vault makes them. */
export class KeyTypeError extends Error {}

/**
 * A user's certificate and those above it, DER: user, issuing authority, root. After the root was
 * rolled over, the cross-certificate, by which the former root certifies the key of this one,
 * stands before the root: verifiers take the first that fits.
 */
export interface CertificateChain {
  /** Content address: base64url of the first 12 bytes of SHA-256 over the certificates. */
  readonly id: string;
  readonly certificates: readonly [
    user: Uint8Array,
    issuing: Uint8Array,
    ...cross: Uint8Array[],
    root: Uint8Array,
  ];
}

export interface UserKey {
  readonly algorithm: KeyAlgorithm;
  readonly privateKey: PrivateKey;
  readonly chain: CertificateChain;
  /** `MIDCHE` and ten of A-Z0-9, the same for the user's life. */
  readonly serialNumber: string;
  /** The certificate is revoked: the key must not sign any more. */
  readonly revocation: Revocation | undefined;
}

/** The service's own key, for records that it signs itself. */
export interface ServiceKey {
  /** EC P-256. */
  readonly privateKey: PrivateKey;
  /** DER. A root has issued it directly; a cross-certificate stands before the root. */
  readonly certificates: readonly [service: Uint8Array, ...above: Uint8Array[]];
}

/** A signing device of one subscriber. */
export interface DeviceOwner {
  /** Digits without plus. */
  readonly msisdn: string;
  readonly sscdId: string;
}

/** The owner of a key is one SSCD of one subscriber. */
export interface KeyOwner extends DeviceOwner {
  readonly algorithm: KeyAlgorithm;
  /** Asks for a certificate that has expired. */
  readonly expired: boolean;
}

/**
 * Reasons of RFC 5280 5.3.1 that an operator can give. After `superseded` and `affiliationChanged`
 * (the number has a new owner) the next use makes a new key. After the others there is none until
 * the certificate is renewed.
 */
export const revocationReasons = [
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'privilegeWithdrawn',
] as const;
export type RevocationReason = (typeof revocationReasons)[number];

export interface Revocation {
  readonly reason: RevocationReason;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The status that OCSP gives. `unknown`: the authority has not issued it (RFC 6960 2.2). */
export type CertificateStatus = 'good' | 'unknown' | Revocation;

/**
 * One certificate, all of a number, or all of one key of a device.
 *
 * @param serial The serial number of the certificate, hex.
 * @param msisdn Digits without plus.
 */
export type CertificateTarget =
  | { readonly serial: string }
  | { readonly msisdn: string }
  | Pick<KeyOwner, 'msisdn' | 'sscdId' | 'algorithm'>;

/** A certificate of a user, as operators see it. */
export interface IssuedCertificate extends DeviceOwner {
  readonly algorithm: KeyAlgorithm;
  /** The certificate's serial number, lower-case hex. */
  readonly serial: string;
  /** The serialNumber of the person, `MIDCHE…`. */
  readonly serialNumber: string;
  /** 1 for the first of its device, one more for each that followed. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly revocation: Revocation | undefined;
}

/** An authority with its place among the addresses under `/pki`: `issuing-1`, `root-2`. */
export interface NamedAuthority {
  readonly id: string;
  readonly certificate: Uint8Array;
  readonly privateKey: PrivateKey;
}

/** What can be followed by the next one before its time. */
export const rollOverKinds = ['issuing', 'root', 'evidence', 'seals', 'time-stamps'] as const;
export type RollOverKind = (typeof rollOverKinds)[number];

/** A serial number that a list of revoked certificates names. */
export interface RevokedSerial extends Revocation {
  /** The certificate's serial number, lower-case hex. */
  readonly serial: string;
  /** The id of the authority that issued it. */
  readonly authority: string;
  /** When the certificate ends; milliseconds since the epoch. */
  readonly notAfter: number;
}

/**
 * Holds the certificate authority and the users' keys, the same in every process that shares the
 * store and the master key. What is not there yet is created, and what is about to end is renewed:
 * keys of users 30 days before, authorities while they outlive what they issue.
 */
export interface KeyCustody {
  /**
   * @throws When the store is unreachable, the master key does not fit, or the store was emptied or
   *   exchanged while this process ran (LostAuthorityError, within a second).
   */
  userKey(owner: KeyOwner): Promise<UserKey>;
  /**
   * Certifies a key that lives elsewhere, on a phone. The same key of the same device gets the same
   * certificate again, unless that is about to end, is revoked, or belongs to a former owner.
   *
   * @param publicKey EC P-256; its possession was proven.
   * @throws Like {@link userKey}.
   */
  certify(owner: DeviceOwner, publicKey: KeyObject): Promise<CertificateChain>;
  /**
   * Certifies the key of a certificate again, when that is about to end.
   *
   * @returns Undefined when it is revoked, also while this went on.
   * @throws Like {@link userKey}.
   */
  renew(owner: DeviceOwner, certificate: Uint8Array): Promise<CertificateChain | undefined>;
  /** Signs evidence records, and nothing else. @throws Like {@link userKey}. */
  evidenceKey(): Promise<ServiceKey>;
  /** Seals documents in the name of the service. @throws Like {@link userKey}. */
  sealKey(): Promise<ServiceKey>;
  /** Signs time stamps (RFC 3161), and nothing else. @throws Like {@link userKey}. */
  timeStampKey(): Promise<ServiceKey>;
  /**
   * The serialNumber in the certificates of a number.
   *
   * @param at When the number had this owner, milliseconds since the epoch. Default: now.
   * @throws Like {@link userKey}.
   */
  serialNumberOf(msisdn: string, at?: number): Promise<string>;
  /**
   * The present owner of a number, as this process knows it (see {@link isRevoked}): 1 is the first
   * one, and since when, in milliseconds since the epoch (0 for the first).
   */
  ownerOf(msisdn: string): { readonly version: number; readonly since: number };
  /** @returns Undefined for an id that was never issued. */
  chain(id: string): Promise<CertificateChain | undefined>;
  /**
   * The key of a user that belongs to the certificates with this id, also after it was followed by
   * another one.
   *
   * @returns Undefined when it lives elsewhere, such as on a phone, and for an id that was never
   *   issued.
   * @throws Like {@link userKey}.
   */
  keyOf(chain: string): Promise<UserKey | undefined>;
  /** Whether there is a certificate authority already. */
  hasAuthority(): Promise<boolean>;
  /**
   * Tries the keys of authorities, evidence and time stamps, in all versions, and makes none.
   *
   * @returns The records whose keys cannot sign now, and why not.
   */
  unusableKeys(): Promise<readonly { readonly name: string; readonly why: string }[]>;
  /** The root certificates (DER) that a verifier of our signatures must trust, newest last. */
  trust(): Promise<readonly Uint8Array[]>;

  /**
   * The certificates of a target, oldest first; for a number alone it looks through the whole
   * store.
   */
  certificatesOf(target: CertificateTarget): Promise<readonly IssuedCertificate[]>;
  /**
   * Revokes the certificates of a target that are neither over nor revoked. For ever: a second
   * order for the same certificate changes nothing. A compromised key loses its later certificates,
   * too.
   *
   * @returns Those that are revoked by this order; none for an unknown serial number.
   */
  revokeCertificate(
    target: CertificateTarget,
    reason: RevocationReason,
  ): Promise<readonly IssuedCertificate[]>;
  /**
   * Lets the devices of a number whose certificate was revoked have a new key.
   *
   * @returns The number of keys that devices may have anew.
   */
  renewCertificates(msisdn: string): Promise<number>;
  /**
   * The number has a new owner: all its certificates are revoked, and the next ones bear a new
   * serialNumber.
   */
  reassignNumber(msisdn: string): Promise<readonly IssuedCertificate[]>;
  /**
   * Whether the certificate of a device is revoked and nothing has come in its place, as this
   * process knows it. Asks in the background what other processes have revoked.
   */
  isRevoked(owner: DeviceOwner & Pick<KeyOwner, 'algorithm'>): boolean;

  /**
   * Learns what other processes have revoked, unless it did within the last second.
   *
   * @throws Like {@link userKey}.
   */
  refresh(): Promise<void>;

  /** All versions, also former ones, which still answer for what they have issued. */
  authorities(): Promise<readonly NamedAuthority[]>;
  /** The revocation of the certificate with this serial number, lower-case hex; else undefined. */
  revocationOf(serial: string): Promise<Revocation | undefined>;
  /**
   * Whether the certificate of an authority with this serial number, in lower-case hex, is good.
   * One of release 0.1 is unknown until its key is used again.
   */
  statusOf(authority: NamedAuthority, serial: string): Promise<CertificateStatus>;
  /** What the authorities have ever revoked. The same array until there is more. */
  revokedSerials(): Promise<readonly RevokedSerial[]>;
  /** Makes the next authority or key of the service now. @returns Its id, `issuing-2`. */
  rollOver(kind: RollOverKind): Promise<string>;
}

/** The store of the custody's records. The first writer wins; nothing is overwritten. */
export interface CustodyStore {
  get(key: string): Promise<string | undefined>;
  /** Writes unless there is a value already. @returns The value that is there now. */
  setIfAbsent(key: string, value: string): Promise<string>;
  /** Names of records that begin so. Looks through the whole store: for rare orders. */
  namesOf(beginning: string): Promise<readonly string[]>;
  /**
   * Fields of a record that grows: the revocations. One that is there stays as it is.
   *
   * @returns Whether it was added.
   */
  addField(key: string, field: string, value: string): Promise<boolean>;
  countFields(key: string): Promise<number>;
  /** All fields, in pages. A field may come twice; one that is added meanwhile may be missing. */
  fields(key: string): AsyncIterable<readonly (readonly [field: string, value: string])[]>;
}
