/** Root certificates that a verifier trusts: read from PEM text, and tried before they are used. */
import { certificatesIn as openCertificatesIn } from './pem.ts';
import { verifySignature } from './verify.ts';

/**
 * All certificates (DER) in a text.
 * @throws An error when one of them is not a certificate, or cannot be used.
 */
export const certificatesIn = (pem: string): readonly Uint8Array[] =>
  openCertificatesIn(pem).map(({ raw }) => Uint8Array.from(raw));

/**
 * @param given PEM text, or a list of DER.
 * @returns DER. Undefined when there is no root, or when the verifier cannot use one of them.
 */
export const usableRoots = (
  given: string | readonly Uint8Array[],
): readonly Uint8Array[] | undefined => {
  try {
    const roots = typeof given === 'string' ? certificatesIn(given) : given;
    verifySignature(new Uint8Array(), '', { trust: roots });
    return roots.length > 0 ? roots : undefined;
  } catch {
    return undefined;
  }
};
