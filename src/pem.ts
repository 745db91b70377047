import { X509Certificate } from 'node:crypto';

/** @throws Unless it is PEM: X509Certificate reads DER as well, which TLS refuses or passes over. */
export const certificateIn = (content: Buffer): X509Certificate => {
  if (!content.includes('-----BEGIN ')) throw new TypeError('not PEM');
  return new X509Certificate(content);
};
