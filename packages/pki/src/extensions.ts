/**
 * Writes the extensions of certificates and of lists of revoked certificates.
 *
 * Source: RFC 5280 4.2 and 5.2.
 */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import {
  boolean,
  context,
  encode,
  namedBits,
  objectIdentifier,
  octetString,
  sequence,
  smallInteger,
  tags,
} from './der.ts';
import { objectIdentifiers as id } from './object-identifiers.ts';

export const spki = (key: KeyObject): Buffer =>
  (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });

/** 160 bits of SHA-256; RFC 5280 4.2.1.2 allows any unique number, its own methods need SHA-1. */
export const keyIdentifier = (publicKeyInfo: Uint8Array): Buffer =>
  hash('sha256', publicKeyInfo, 'buffer').subarray(0, 20);

export const extension = (
  type: string,
  value: Uint8Array,
  critical: 'critical' | 'optional' = 'optional',
): Buffer =>
  sequence(
    objectIdentifier(type),
    ...(critical === 'critical' ? [boolean(true)] : []),
    octetString(value),
  );

const keyUsageBits = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const;

export const keyUsage = (...uses: readonly (keyof typeof keyUsageBits)[]): Buffer =>
  extension(id.keyUsage, namedBits(...uses.map((use) => keyUsageBits[use])), 'critical');

export const authorityConstraints = (pathLength?: number): Buffer =>
  extension(
    id.basicConstraints,
    sequence(boolean(true), ...(pathLength === undefined ? [] : [smallInteger(pathLength)])),
    'critical',
  );

/** RFC 3161 2.3: that of time stamps is critical. */
export const extendedKeyUsage = (
  purpose: 'clientAuth' | 'documentSigning' | 'timeStamping',
): Buffer =>
  extension(
    id.extendedKeyUsage,
    sequence(objectIdentifier(id[purpose])),
    purpose === 'timeStamping' ? 'critical' : 'optional',
  );

export const subjectKeyIdentifier = (publicKeyInfo: Uint8Array): Buffer =>
  extension(id.subjectKeyIdentifier, octetString(keyIdentifier(publicKeyInfo)));

export const authorityKeyIdentifier = (identifier: Uint8Array): Buffer =>
  extension(id.authorityKeyIdentifier, sequence(encode(tags.contextPrimitive(0), identifier)));

/** The addresses at which a verifier learns about the certificates of an authority. */
export interface Pointers {
  /** Its list of revoked certificates. */
  readonly crl: string;
  readonly ocsp: string;
  /** Its own certificate. */
  readonly certificate: string;
}

/** GeneralName `uniformResourceIdentifier`. */
const address = (url: string): Buffer =>
  encode(tags.contextPrimitive(6), Buffer.from(url, 'ascii'));

/** The extensions that name the addresses. Empty without addresses. */
export const pointerExtensions = (pointers: Pointers | undefined): readonly Buffer[] =>
  pointers === undefined
    ? []
    : [
        extension(
          id.crlDistributionPoints,
          // DistributionPoint { distributionPoint [0] { fullName [0] { address } } }
          sequence(sequence(context(0, context(0, address(pointers.crl))))),
        ),
        extension(
          id.authorityInfoAccess,
          sequence(
            sequence(objectIdentifier(id.ocsp), address(pointers.ocsp)),
            sequence(objectIdentifier(id.caIssuers), address(pointers.certificate)),
          ),
        ),
      ];
