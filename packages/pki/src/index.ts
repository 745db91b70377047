/**
 * `@paraph/pki`: a certificate authority that holds the keys of people, their CMS signatures, and
 * the verification of such signatures.
 */
export { attachCertificates, attributesToSign, completeCms, signCms } from './cms.ts';
export { createKeyCustody } from './custody.ts';
export { createDetachedCms, detachedAttributes } from './detached.ts';
export type { Pointers } from './extensions.ts';
export { ownVault } from './key-vault.ts';
export { createMemoryStore, type MemoryStore } from './memory-store.ts';
export {
  type CertificateChain,
  type CertificateStatus,
  type CertificateTarget,
  type CustodyStore,
  type DeviceOwner,
  type IssuedCertificate,
  type KeyCustody,
  type KeyOwner,
  KeyTypeError,
  type KeyVault,
  type MadeKey,
  type NamedAuthority,
  type PrivateKey,
  type Revocation,
  type RevokedSerial,
  type RollOverKind,
  revocationReasons,
  rollOverKinds,
  type ServiceKey,
  type UserKey,
} from './ports.ts';
export type { RevocationMaterial } from './revocation-check.ts';
export { usableRoots } from './roots.ts';
export { type Verification, verifySignature } from './verify.ts';
