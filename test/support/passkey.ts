/**
 * A platform authenticator with one passkey, as a browser has one: what it gives is what
 * `PublicKeyCredential.toJSON` gives.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Json } from './product.ts';

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

const flags = { present: 0x01, verified: 0x04, attested: 0x40 };

/** CBOR: a byte string of at most 65 535 bytes. */
const cborBytes = (bytes: Uint8Array): Buffer =>
  Buffer.concat([
    bytes.length < 256
      ? Buffer.of(0x58, bytes.length)
      : Buffer.of(0x59, bytes.length >> 8, bytes.length & 0xff),
    bytes,
  ]);
const cborText = (written: string): Buffer =>
  Buffer.concat([Buffer.of(0x60 + written.length), Buffer.from(written)]);

export type Passkey = ReturnType<typeof createPasskey>;

/** @param verifiesUser Without it somebody has only touched the device. */
export const createPasskey = (origin: string, verifiesUser = true) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;
  const here = flags.present | (verifiesUser ? flags.verified : 0);
  const head = (rpId: string, flag: number): Buffer => {
    const count = Buffer.alloc(4);
    counter += 1;
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.of(flag), count]);
  };
  const client = (type: string, challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const credential = (response: object) => ({
    id: text(id),
    rawId: text(id),
    type: 'public-key',
    response,
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  });
  return {
    create: ({ challenge, rp }: Json) => {
      // COSE: EC2, ES256, P-256, x, y.
      const key = Buffer.concat([
        Buffer.from('a5010203262001', 'hex'),
        Buffer.of(0x21),
        cborBytes(Buffer.from(x, 'base64url')),
        Buffer.of(0x22),
        cborBytes(Buffer.from(y, 'base64url')),
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(0, id.length), id, key]);
      const data = Buffer.concat([head(rp.id, here | flags.attested), attested]);
      const attestation = Buffer.concat([
        Buffer.of(0xa3),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.of(0xa0),
        cborText('authData'),
        cborBytes(data),
      ]);
      const clientDataJSON = text(client('webauthn.create', challenge));
      return credential({
        clientDataJSON,
        attestationObject: text(attestation),
        transports: ['internal'],
      });
    },
    get: ({ challenge, rpId }: Json) => {
      const data = head(rpId, here);
      const clientData = client('webauthn.get', challenge);
      const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), privateKey);
      return credential({
        clientDataJSON: text(clientData),
        authenticatorData: text(data),
        signature: text(signature),
      });
    },
  };
};
