/** Root certificates that somebody trusts: from PEM text, and tried before they are needed. */
import { X509Certificate } from 'node:crypto';
import { verifySignature } from './verify.ts';

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** All certificates (DER) in a text. @throws For one that is no certificate. */
export const certificatesIn = (pem: string): readonly Uint8Array[] =>
  (pem.match(pemBlock) ?? []).map((block) => Uint8Array.from(new X509Certificate(block).raw));

/**
 * @param given PEM text, or a list of DER.
 * @returns DER. Undefined when there is none, or one that the verifier cannot use.
 */
export const usableRoots = (given: string | readonly Uint8Array[]): readonly Uint8Array[] | undefined => {
  try {
    const roots = typeof given === 'string' ? certificatesIn(given) : given;
    verifySignature(new Uint8Array(), '', { trust: roots });
    return roots.length > 0 ? roots : undefined;
  } catch {
    return undefined;
  }
};
