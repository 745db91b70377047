import { CompactEncrypt, compactDecrypt, errors } from 'jose';

/**
 * Secrets in the store: each a compact JWE under the master key, direct encryption with A256GCM.
 *
 * The protected header is authenticated with the content. It names the record (`kid`), so that one
 * user's record cannot stand for another's, and the certificate of a key (`x5t#S256`), so that the
 * certificate beside it, stored in clear, cannot be exchanged.
 *
 * The short form of sealed-json.ts is for records that come and go with each login. Keys are few,
 * and must be readable without this program: any library for JOSE opens them with the master key.
 * A record that does not open is an error here, because there is no going on without it; there it
 * is one that was not made by the service.
 *
 * Sources: RFC 7516, RFC 7517 section 7, RFC 7518 4.5 and 5.3.
 */
interface Sealed {
  readonly name: string;
  readonly payload: unknown;
  /** Base64url SHA-256 of the certificate, where there is one. */
  readonly certificateThumbprint?: string | undefined;
}

/** A record's name without the number of its owner, which no error text may hold. */
export const recordKind = (name: string): string =>
  name.startsWith('ca:') ? name : name.replace(/:.*$/s, '');

/** @param key 32 bytes. */
export const createSealer = (key: Uint8Array) => {
  if (key.length !== 32) throw new TypeError('the master key must have 32 bytes');
  return {
    seal: ({ name, payload, certificateThumbprint }: Sealed): Promise<string> =>
      new CompactEncrypt(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({
          alg: 'dir',
          enc: 'A256GCM',
          kid: name,
          ...(certificateThumbprint === undefined ? {} : { 'x5t#S256': certificateThumbprint }),
        })
        .encrypt(key),
    /** @throws When the master key does not open it, or it was sealed for another name. */
    open: async (name: string, jwe: string): Promise<Sealed> => {
      const opened = await compactDecrypt(jwe, key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      }).catch((error: unknown) => {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new Error(
          `The master key does not open the stored ${recordKind(name)} record: either this is not the master key ` +
            'that the store was created with, or the record was altered.',
        );
      });
      const { kid, 'x5t#S256': thumbprint } = opened.protectedHeader;
      if (kid !== name)
        throw new Error(`a stored ${recordKind(name)} record belongs to another owner`);
      return {
        name,
        payload: JSON.parse(Buffer.from(opened.plaintext).toString('utf8')),
        certificateThumbprint: typeof thumbprint === 'string' ? thumbprint : undefined,
      };
    },
  };
};
