/** Time stamps: read by openssl and pkijs, and what they do for a signature in later years. */
import { X509Certificate } from 'node:crypto';
import type * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../../packages/pki/src/certificate-fields.ts';
import { attachProof } from '../../../packages/pki/src/cms.ts';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import {
  readSignedData,
  readSignerInfo,
  type SignerInfo,
} from '../../../packages/pki/src/signed-data.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { owner, serviceKey, signComplete } from '../../../packages/pki/test/fixtures.ts';
import { inFolder, openssl, opensslVerify, pem } from '../../../packages/pki/test/openssl.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { createLongTerm, createTimeStampAuthority } from '../long-term.ts';
import { createPublisher } from '../publisher.ts';
import { answerTimeStampRequest } from '../time-stamp.ts';

const day = 86_400_000;
const year = 365.25 * day;
const start = Date.now();

const service = () => {
  const clock = { now: start };
  const now = () => clock.now;
  const custody = createKeyCustody({ store: createMemoryCustodyStore(), serviceKey, now });
  const publisher = createPublisher({ custody, now });
  const ask = createTimeStampAuthority(custody, now);
  const longTerm = createLongTerm({ ask, trust: custody.trust, publisher, custody, now });
  return { clock, custody, publisher, ask, longTerm };
};

const signatureOf = (cms: Uint8Array): SignerInfo => {
  const [signer] = readSignedData(cms)?.signers ?? [];
  const read = signer && readSignerInfo(signer);
  if (read === undefined) throw new Error('no signer');
  return read;
};

describe('a time stamp', () => {
  it.each(['sha256', 'sha384', 'sha512'])('over %s is verified by openssl', async (hash) => {
    const { custody, ask } = service();
    const [root] = (await custody.trust()) as [Uint8Array];
    const [authority] = (await custody.timeStampKey()).certificates;
    await inFolder(
      { 'data.txt': 'Stamp this', 'root.pem': pem(root), 'tsa.pem': pem(authority) },
      async (folder, { read, write }) => {
        for (const certificates of [' -cert', '']) {
          await openssl(folder, `ts -query -data data.txt -${hash}${certificates} -out query.tsq`);
          await write('reply.tsr', await ask(await read('query.tsq')));
          const more = certificates === '' ? ' -untrusted tsa.pem' : '';
          const said = await openssl(
            folder,
            `ts -verify -in reply.tsr -queryfile query.tsq -CAfile root.pem${more}`,
          );
          expect(said).toContain('Verification: OK');
        }
        await write('data.txt', 'Stamp that');
        await expect(
          openssl(
            folder,
            'ts -verify -in reply.tsr -data data.txt -CAfile root.pem -untrusted tsa.pem',
          ),
        ).rejects.toThrow('message imprint mismatch');
      },
    );
  });

  it('has a key of its own, for nothing else', async () => {
    const { custody } = service();
    const { certificates, privateKey } = await custody.timeStampKey();
    const certificate = new X509Certificate(certificates[0]);
    expect(certificate.subject).toBe('CN=Paraph Time Stamps');
    expect(certificate.publicKey.equals(privateKey.publicKey)).toBe(true);
    const extension = pkijs.Certificate.fromBER(certificates[0]).extensions?.find(
      ({ extnID }) => extnID === '2.5.29.37',
    );
    expect(extension).toMatchObject({ critical: true });
    expect(extension?.parsedValue.keyPurposes).toEqual(['1.3.6.1.5.5.7.3.8']);
  });

  it('is refused to what is no request, with the reason of RFC 3161', async () => {
    const key = await service().custody.timeStampKey();
    const said = async (command: string): Promise<string> =>
      inFolder({ 'data.txt': 'x' }, async (folder, { read, write }) => {
        await openssl(folder, `ts -query -data data.txt ${command} -out query.tsq`);
        await write(
          'reply.tsr',
          await answerTimeStampRequest(await read('query.tsq'), key, new Date()),
        );
        return openssl(folder, 'ts -reply -in reply.tsr -text');
      });
    expect(await said('-sha1')).toContain('unrecognized or unsupported algorithm');
    expect(await said('-sha256 -tspolicy 1.2.3.4')).toContain(
      'the requested TSA policy is not supported',
    );
    for (const hostile of [
      Buffer.of(),
      Buffer.from('3003020101', 'hex'),
      Buffer.alloc(4000, 0x30),
    ]) {
      const { status } = pkijs.TimeStampResp.fromBER(
        await answerTimeStampRequest(hostile, key, new Date()),
      );
      expect(status.status).toBe(2);
    }
  });
});

describe('a signature with a time stamp', () => {
  it('verifies when its certificate is over, until that of the time stamp is', async () => {
    const { clock, custody, longTerm } = service();
    const key = await custody.userKey(owner());
    const cms = await signComplete(key, 'For long');
    clock.now += day;
    const { signature, timeStamp } = await longTerm(cms, Buffer.from('For long'));
    expect(timeStamp).toEqual(new Date(Math.floor(clock.now / 1000) * 1000));
    const trust = await custody.trust();
    const at = new Date(start + 5 * year);
    expect(verifySignature(cms, 'For long', { trust, at })).toMatchObject({
      reason: 'CERTIFICATE_EXPIRED',
    });
    expect(verifySignature(signature, 'For long', { trust, at })).toMatchObject({
      ok: true,
      timeStamp,
      revocation: 'none',
      signer: { serialNumber: key.serialNumber },
    });
    // With the lists inside.
    expect(verifySignature(signature, 'For long', { trust, at, revocation: {} })).toMatchObject({
      ok: true,
      revocation: 'crl',
    });
    const [stamping] = (await custody.timeStampKey()).certificates;
    const over = new Date((readCertificate(stamping)?.notAfter.getTime() ?? 0) + day);
    expect(verifySignature(signature, 'For long', { trust, at: over })).toMatchObject({
      ok: false,
    });
    // What verifies it today goes on verifying it.
    const [root] = trust as [Uint8Array];
    expect((await opensslVerify(signature, root, new Date(clock.now))).toString()).toBe('For long');
  });

  it('is proven years later by openssl alone: the time stamp now, the rest at its time', async () => {
    const { clock, custody, longTerm } = service();
    const cms = await signComplete(await custody.userKey(owner()), 'Without Paraph');
    clock.now += day;
    const { signature, timeStamp } = await longTerm(cms, Buffer.from('Without Paraph'));
    const { unsigned, signature: value } = signatureOf(signature);
    const token = unsigned?.children[0]?.children[1]?.children[0]?.bytes;
    const [root] = (await custody.trust()) as [Uint8Array];
    const files = {
      'cms.der': signature,
      'token.der': token,
      'value.bin': value,
      'root.pem': pem(root),
    };
    const later = `-attime ${Math.floor((start + 5 * year) / 1000)}`;
    await inFolder(files, async (folder, { write }) => {
      const stamped = `ts -verify -in token.der -token_in -data value.bin -CAfile root.pem ${later}`;
      expect(await openssl(folder, stamped)).toContain('Verification: OK');
      const verify =
        'cms -verify -binary -inform DER -in cms.der -CAfile root.pem -purpose sslclient';
      await expect(openssl(folder, `${verify} ${later}`)).rejects.toThrow(
        'certificate has expired',
      );
      // The lists are taken from the signature.
      const then = `-attime ${timeStamp.getTime() / 1000} -crl_check_all`;
      expect(await openssl(folder, `${verify} ${then}`)).toContain('Without Paraph');
      await write('value.bin', 'Another signature');
      await expect(openssl(folder, stamped)).rejects.toThrow('message imprint mismatch');
    });
  });

  it('has all lists also for those who trust the root of before a roll-over', async () => {
    const { clock, custody, longTerm } = service();
    await custody.trust();
    clock.now += day;
    await custody.rollOver('root');
    await custody.rollOver('issuing');
    const { signature } = await longTerm(
      await signComplete(await custody.userKey(owner()), 'Rolled over'),
      Buffer.from('Rolled over'),
    );
    const [former, root] = (await custody.trust()) as [Uint8Array, Uint8Array];
    const files = { 'cms.der': signature, 'former.pem': pem(former), 'root.pem': pem(root) };
    await inFolder(files, async (folder) => {
      for (const file of ['former.pem', 'root.pem']) {
        const verify = `cms -verify -inform DER -in cms.der -CAfile ${file} -purpose sslclient`;
        const then = `-attime ${Math.floor(clock.now / 1000) + 1} -crl_check_all`;
        expect(await openssl(folder, `${verify} ${then}`)).toContain('Rolled over');
      }
    });
  });

  it('is read by pkijs, which verifies signature and time stamp', async () => {
    const { custody, longTerm } = service();
    const cms = await signComplete(await custody.userKey(owner()), 'For others');
    const { signature, timeStamp } = await longTerm(cms, Buffer.from('For others'));
    const { content } = pkijs.ContentInfo.fromBER(signature);
    const signedData = new pkijs.SignedData({ schema: content });
    const trustedCerts = (await custody.trust()).map((der) => pkijs.Certificate.fromBER(der));
    expect(signedData.crls).toHaveLength(2);
    const verifyAt = (checkDate: Date): Promise<boolean> =>
      signedData.verify({ signer: 0, checkChain: true, trustedCerts, checkDate });
    expect(await verifyAt(timeStamp)).toBe(true);
    const years = new Date(start + 5 * year);
    await expect(verifyAt(years)).rejects.toMatchObject({ signatureVerified: null });
    const [signer] = signedData.signerInfos;
    const [attribute] = signer?.unsignedAttrs?.attributes ?? [];
    expect(attribute?.type).toBe('1.2.840.113549.1.9.16.2.14');
    const token = new pkijs.SignedData({
      schema: pkijs.ContentInfo.fromBER(attribute?.values[0].toBER()).content,
    });
    const info = pkijs.TSTInfo.fromBER(
      token.encapContentInfo.eContent?.valueBlock.valueHexView ?? Buffer.of(),
    );
    expect(info.genTime).toEqual(timeStamp);
    const value = signer?.signature as asn1js.OctetString;
    const data = value.valueBlock.valueHexView.slice().buffer;
    expect(
      await token.verify({ signer: 0, data, trustedCerts, checkChain: true, checkDate: years }),
    ).toBe(true);
  });

  it('that was revoked before its time stamp does not verify, and after it does', async () => {
    const { clock, custody, longTerm, publisher } = service();
    const cms = await signComplete(await custody.userKey(owner()), 'Between');
    const before = await longTerm(cms, Buffer.from('Between'));
    clock.now += day;
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    clock.now += day;
    const after = await longTerm(cms, Buffer.from('Between'));
    expect([before.tooLate, after.tooLate]).toEqual([undefined, 'CERTIFICATE_REVOKED']);
    const trust = await custody.trust();
    const revocation = { lists: [(await publisher.revocationList('issuing-1')) ?? Buffer.of()] };
    const at = new Date(clock.now);
    expect(verifySignature(before.signature, 'Between', { trust, at, revocation })).toMatchObject({
      ok: true,
    });
    expect(verifySignature(after.signature, 'Between', { trust, at, revocation })).toMatchObject({
      reason: 'CERTIFICATE_REVOKED',
    });
  });

  it('whose time stamp is of another signature, an unknown authority, or the future, gains nothing', async () => {
    const { clock, custody, longTerm } = service();
    const stranger = service();
    const key = await custody.userKey(owner());
    const cms = await signComplete(key, 'Alone');
    const other = await longTerm(await signComplete(key, 'Another'), Buffer.from('Another'));
    const trust = await custody.trust();
    const at = new Date(start + 5 * year);
    const strange = createLongTerm({
      ask: stranger.ask,
      trust: stranger.custody.trust,
      publisher: stranger.publisher,
      custody: stranger.custody,
      now: () => start,
    });
    const foreign = (await strange(cms, Buffer.from('Alone'))).signature;
    expect(verifySignature(foreign, 'Alone', { trust, at })).toMatchObject({ ok: false });
    const timeStampTrust = await stranger.custody.trust();
    expect(verifySignature(foreign, 'Alone', { trust, at, timeStampTrust })).toMatchObject({
      ok: true,
    });
    const token = signatureOf(other.signature).unsigned?.children[0]?.children[1]?.children[0]
      ?.bytes;
    const mixed = attachProof(cms, { timeStamp: token ?? Buffer.of(), lists: [] });
    expect(verifySignature(mixed, 'Alone', { trust, at })).toMatchObject({
      reason: 'CERTIFICATE_EXPIRED',
    });
    clock.now += 6 * year;
    const { signature: late, tooLate } = await longTerm(cms, Buffer.from('Alone'));
    expect(tooLate).toBe('CERTIFICATE_EXPIRED');
    expect(verifySignature(late, 'Alone', { trust, at })).toMatchObject({
      reason: 'CERTIFICATE_EXPIRED',
    });
    expect(
      verifySignature(late, 'Alone', { trust: await custody.trust(), at: new Date(clock.now) }),
    ).toMatchObject({ reason: 'CERTIFICATE_EXPIRED' });
  });

  it('gets none that does not verify', async () => {
    const { custody, publisher } = service();
    const stranger = service();
    const cms = await signComplete(await custody.userKey(owner()), 'None');
    for (const ask of [
      stranger.ask,
      async () => Buffer.from('30030a0100', 'hex'),
      async () => Buffer.of(),
    ]) {
      const longTerm = createLongTerm({
        ask,
        trust: custody.trust,
        publisher,
        custody,
        now: () => start,
      });
      await expect(longTerm(cms, Buffer.from('None'))).rejects.toThrow('gave none that verifies');
    }
  });
});
