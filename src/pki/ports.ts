import type { KeyObject } from 'node:crypto';
import type { KeyAlgorithm } from '../protocol/requests.ts';

/**
 * A user's certificate with the two above it, DER, in the order user, issuing CA, root: the order in which they are
 * written into a CMS and shown by the profile operation.
 */
export interface CertificateChain {
  /** Content address: base64url of the first 12 bytes of SHA-256 over the three certificates. Never changes its meaning. */
  readonly id: string;
  readonly certificates: readonly [user: Uint8Array, issuing: Uint8Array, root: Uint8Array];
}

export interface UserKey {
  readonly algorithm: KeyAlgorithm;
  readonly privateKey: KeyObject;
  readonly chain: CertificateChain;
  /** `MIDCHE` and ten of A-Z0-9: who this is, the same for the user's life. */
  readonly serialNumber: string;
}

/** Who owns a key: one SSCD of one subscriber. */
export interface KeyOwner {
  readonly msisdn: string;
  readonly sscdId: string;
  readonly algorithm: KeyAlgorithm;
  /** Ask for a certificate whose three years are over. */
  readonly expired: boolean;
}

/**
 * Holds the certificate authority and the users' keys. Every process that shares the store and the master key sees
 * the same ones; whoever asks first creates them.
 */
export interface KeyCustody {
  /** Created at the first call for an owner. @throws When the store is unreachable or the master key does not fit. */
  userKey(owner: KeyOwner): Promise<UserKey>;
  /** Who a number is in the certificates of its keys. @throws Like {@link userKey}. */
  serialNumberOf(msisdn: string): Promise<string>;
  /** @returns Undefined for an id that was never issued. */
  chain(id: string): Promise<CertificateChain | undefined>;
  /** Whether there is a certificate authority. All that needs one makes it. */
  hasAuthority(): Promise<boolean>;
  /** The root certificates (DER) that a verifier of our signatures must trust. */
  trust(): Promise<readonly Uint8Array[]>;
}

/** Where the custody keeps its records: first writer wins, nothing is ever overwritten. */
export interface CustodyStore {
  get(key: string): Promise<string | undefined>;
  /** Writes unless there is a value already. @returns The value that is there now. */
  setIfAbsent(key: string, value: string): Promise<string>;
}
