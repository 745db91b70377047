import type { KeyObject } from 'node:crypto';
import type { KeyAlgorithm } from '../protocol/requests.ts';

/** A user's certificate and the two above it, DER, in the order of a CMS and of profile answers. */
export interface CertificateChain {
  /** Content address: base64url of the first 12 bytes of SHA-256 over the three certificates. */
  readonly id: string;
  readonly certificates: readonly [user: Uint8Array, issuing: Uint8Array, root: Uint8Array];
}

export interface UserKey {
  readonly algorithm: KeyAlgorithm;
  readonly privateKey: KeyObject;
  readonly chain: CertificateChain;
  /** `MIDCHE` and ten of A-Z0-9, the same for the user's life. */
  readonly serialNumber: string;
}

/** The service's own key, for records that it signs itself. */
export interface ServiceKey {
  /** EC P-256. */
  readonly privateKey: KeyObject;
  /** DER. The root has issued it directly. */
  readonly certificates: readonly [service: Uint8Array, root: Uint8Array];
}

/** The owner of a key is one SSCD of one subscriber. */
export interface KeyOwner {
  readonly msisdn: string;
  readonly sscdId: string;
  readonly algorithm: KeyAlgorithm;
  /** Asks for a certificate that has expired. */
  readonly expired: boolean;
}

/**
 * Holds the certificate authority and the users' keys, the same in every process that shares the
 * store and the master key. What is not there yet is created.
 */
export interface KeyCustody {
  /** @throws When the store is unreachable or the master key does not fit. */
  userKey(owner: KeyOwner): Promise<UserKey>;
  /** Signs evidence records, and nothing else. @throws Like {@link userKey}. */
  evidenceKey(): Promise<ServiceKey>;
  /** The serialNumber in the certificates of a number. @throws Like {@link userKey}. */
  serialNumberOf(msisdn: string): Promise<string>;
  /** @returns Undefined for an id that was never issued. */
  chain(id: string): Promise<CertificateChain | undefined>;
  /** Whether there is a certificate authority already. */
  hasAuthority(): Promise<boolean>;
  /** The root certificates (DER) that a verifier of our signatures must trust. */
  trust(): Promise<readonly Uint8Array[]>;
}

/** Where the custody keeps its records. The first writer wins; nothing is overwritten. */
export interface CustodyStore {
  get(key: string): Promise<string | undefined>;
  /** Writes unless there is a value already. @returns The value that is there now. */
  setIfAbsent(key: string, value: string): Promise<string>;
}
