/** Signatures over bytes that lie elsewhere, with the attributes of CAdES baseline. */
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readElement } from '../src/ber.ts';
import {
  createDetachedCms,
  detachedAttributes,
  readDetached,
  signatureValue,
} from '../src/detached.ts';
import { newCustody, owner, utf8 } from './fixtures.ts';
import { inFolder, openssl, pem } from './openssl.ts';

const custody = newCustody();
const ec = await custody.userKey(owner());
const rsa = await custody.userKey(owner({ algorithm: 'RSA' }));
const [root] = await custody.trust();
const content = utf8('what lies elsewhere');
const digest = hash('sha256', content, 'buffer');

const signWith = async (key: typeof ec, algorithm: 'ECDSA' | 'ES256' | 'RS256') => {
  const [own, ...others] = key.chain.certificates;
  const signature = await key.privateKey.sign(detachedAttributes(digest, own), algorithm);
  return { digest, signature, certificates: [own, ...others] as const };
};

describe('a detached signature', () => {
  it.each([
    ['an EC key, DER', ec, 'ECDSA'],
    ['an EC key, r and s', ec, 'ES256'],
    ['an RSA key', rsa, 'RS256'],
  ] as const)('by %s is accepted by openssl', async (_, key, algorithm) => {
    const cms = createDetachedCms(await signWith(key, algorithm));
    const files = { cms, content, 'root.pem': pem(root ?? new Uint8Array()) };
    const said = await inFolder(files, (folder) =>
      openssl(
        folder,
        'cms -verify -binary -inform DER -in cms -content content -CAfile root.pem -purpose any -no_check_time -out out',
      ),
    );
    expect(said).toMatch(/successful/i);
    const read = readDetached(cms ?? new Uint8Array(), () => digest);
    expect(read).toMatchObject({ ok: true, found: { namesCertificate: true, claimsTime: false } });
  });

  it('has content type, digest and certificate signed, and no time', () => {
    const attributes = readElement(detachedAttributes(digest, ec.chain.certificates[0]));
    expect(attributes?.children).toHaveLength(3);
    expect(() => detachedAttributes(content, ec.chain.certificates[0])).toThrow('32 bytes');
  });

  it('is not made of a signature of another key, nor of other bytes', async () => {
    const order = await signWith(ec, 'ECDSA');
    const [, ...others] = ec.chain.certificates;
    const own = rsa.chain.certificates[0];
    expect(createDetachedCms({ ...order, certificates: [own, ...others] })).toBeUndefined();
    expect(createDetachedCms({ ...order, digest: Buffer.alloc(32) })).toBeUndefined();
    const signature = Buffer.alloc(64, 1);
    const certificate = ec.chain.certificates[0];
    expect(signatureValue({ digest, signature, certificate })).toBeUndefined();
  });

  it('is refused with a reason', async () => {
    const cms = createDetachedCms(await signWith(ec, 'ECDSA')) ?? new Uint8Array();
    const other = readDetached(cms, () => Buffer.alloc(32));
    expect(other).toEqual({ ok: false, reason: 'DIGEST_MISMATCH' });
    expect(readDetached(content, () => digest)).toEqual({ ok: false, reason: 'MALFORMED' });
    for (let at = 0; at < cms.length; at += 3) {
      const changed = Buffer.from(cms);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const read = readDetached(changed, () => digest);
      if (!read.ok) continue;
      // Certificates are not signed, but that of the signer is named.
      const isSame = Buffer.compare(read.found.certificate.der, ec.chain.certificates[0]) === 0;
      expect(read.found.namesCertificate).toBe(isSame);
    }
  });
});
