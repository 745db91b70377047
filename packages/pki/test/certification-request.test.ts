import { webcrypto } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificationRequest, newKeyPair } from '../../../test/support/phone.ts';
import { readCertificationRequest } from '../src/certification-request.ts';
import { inFolder, openssl } from './openssl.ts';

describe('a certification request', () => {
  it('gives the key that has signed it', async () => {
    const pair = await newKeyPair();
    const key = readCertificationRequest(await certificationRequest(pair));
    const spki = Buffer.from(await webcrypto.subtle.exportKey('spki', pair.publicKey));
    expect(key?.export({ format: 'der', type: 'spki' })).toEqual(spki);
  });

  it('is refused when another key has signed it', async () => {
    const [pair, other] = [await newKeyPair(), await newKeyPair()];
    const mixed = { publicKey: pair.publicKey, privateKey: other.privateKey };
    expect(readCertificationRequest(await certificationRequest(mixed))).toBeUndefined();
  });

  it('is refused for a key of another curve', async () => {
    const p384 = { name: 'ECDSA', namedCurve: 'P-384' };
    const pair = await webcrypto.subtle.generateKey(p384, true, ['sign', 'verify']);
    expect(readCertificationRequest(await certificationRequest(pair))).toBeUndefined();
  });

  it('is refused for a key whose curve is written out instead of named', async () => {
    await inFolder({}, async (folder, { read }) => {
      const request =
        'req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -subj /CN=x';
      const encoding = '-pkeyopt ec_param_enc:explicit';
      await openssl(folder, `${request} -outform DER -out named.der`);
      await openssl(folder, `${request} ${encoding} -outform DER -out explicit.der`);
      expect(readCertificationRequest(await read('named.der'))).toBeDefined();
      expect(readCertificationRequest(await read('explicit.der'))).toBeUndefined();
    });
  });

  it('is refused with any octet changed, cut off or added, and never throws', async () => {
    const request = await certificationRequest(await newKeyPair());
    for (let at = 0; at < request.length; at += 1) {
      const changed = Uint8Array.from(request);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      expect(readCertificationRequest(changed), `octet ${at}`).toBeUndefined();
    }
    expect(readCertificationRequest(request.subarray(1))).toBeUndefined();
    expect(readCertificationRequest(Buffer.concat([request, Buffer.of(0)]))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(readCertificationRequest(bytes)).toBeUndefined();
      }),
    );
  });
});
