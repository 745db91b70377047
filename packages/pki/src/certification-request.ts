/**
 * Reads a certification request (PKCS #10): the public key of a device that makes its own key, and
 * the proof that the device has the private one.
 *
 * Only the key is used. The subject and the attributes are the device's claims, and the authority
 * decides what a certificate says.
 *
 * Source: RFC 2986 section 4, RFC 5758 3.2.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { member, readElement, smallNumber } from './ber.ts';
import { tags } from './der.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import { namesItsCurve } from './pem.ts';
import { readAlgorithm } from './signed-data.ts';

/** @returns Undefined for a key that is not EC P-256, by its name. */
const openKey = (publicKeyInfo: Uint8Array): KeyObject | undefined => {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKeyInfo), format: 'der', type: 'spki' });
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && namesItsCurve(key);
    return isP256 ? key : undefined;
  } catch {
    return undefined;
  }
};

/**
 * @returns The public key, EC P-256. Undefined for anything else, and for a request that this key
 *   has not signed with ecdsa-with-SHA256.
 */
export const readCertificationRequest = (der: Uint8Array): KeyObject | undefined => {
  const request = readElement(der);
  if (request?.tag !== tags.sequence || request.children.length !== 3) return undefined;
  const info = member(request, 0, tags.sequence);
  const algorithm = member(request, 1, tags.sequence);
  const signature = member(request, 2, tags.bitString);
  const publicKeyInfo = member(info, 2, tags.sequence);
  if (info === undefined || publicKeyInfo === undefined || smallNumber(info.children[0]) !== 0)
    return undefined;
  // The first octet of a BIT STRING counts its unused bits.
  if (algorithm === undefined || signature?.content[0] !== 0) return undefined;
  if (readAlgorithm(algorithm) !== objectIdentifiers.ecdsaWithSha256) return undefined;
  const key = openKey(publicKeyInfo.bytes);
  return key !== undefined && verify('sha256', info.bytes, key, signature.content.subarray(1))
    ? key
    : undefined;
};
