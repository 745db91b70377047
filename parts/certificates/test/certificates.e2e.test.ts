/** Certificates in the whole product: renewal, revocation, what is published, and proofs. */
import { randomBytes, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { inFolder, openssl, pem } from '../../../packages/pki/test/openssl.ts';
import { createCustodyStore } from '../../../src/app/custody-store.ts';
import { expectFault, expectSignature, send, sign } from '../../../test/http/wire.ts';
import { basic } from '../../../test/support/caller.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { profileRequest, signRequest } from '../../../test/support/requests.ts';

const redis = testRedis();
const otherRedis = testRedis();
const masterKey = randomBytes(32);
const year = 365.25 * 86_400_000;
const text = 'Sign in to Example?';

/** Signed with Paraph years ago. */
const former = '+41700092502';
const vendor = 'http://mid.vendor.ch/';

let product: TestProduct;
const custody = () => product.core.custodyOver(product.core.commands);

beforeAll(async () => {
  const store = createCustodyStore(redis.client(), redis.prefix.slice(-32));
  const then = createKeyCustody({ store, serviceKey: masterKey, now: () => Date.now() - 8 * year });
  await then.userKey({ msisdn: former.slice(1), sscdId: 'sim', algorithm: 'RSA', expired: false });
  product = await startTestProduct(redis, {
    masterKey,
    listen: true,
    configuration: {
      subscribers: [{ msisdn: '41790000010', sim: {}, apps: [{}] }],
      pki: { url: 'http://pki.test', rateLimit: { requests: 60, perSeconds: 3600 } },
    },
  });
});
afterAll(() => product?.stop());

const signFor = (msisdn: string, more: object = {}) => sign(product, { msisdn, ...more });

const certificateOf = async (
  msisdn: string,
): Promise<{ der: Buffer; state: string; issuing: Buffer }> => {
  const { body } = await send(
    product,
    '/rest/service/profile',
    profileRequest(msisdn, 'sscds certs'),
  );
  const [certificate] = body.MSS_ProfileResp.Status.StatusDetail.ProfileQueryExtension.Sscds.Sim
    .MobileUserCertificate as { State: string; X509Certificate: string[] }[];
  const [der = '', issuing = ''] = certificate?.X509Certificate ?? [];
  const state = certificate?.State ?? '';
  return { der: Buffer.from(der, 'base64'), issuing: Buffer.from(issuing, 'base64'), state };
};

describe('a person whose certificate is over', () => {
  it('signs, with and without validate', async () => {
    await expectSignature(product, await signFor(former), text);
    const services = [{ Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' }];
    const answer = await signFor(former, { services });
    expect(answer.body.MSS_SignatureResp.Status.StatusCode.Value).toBe('502');
  });

  it('has a certificate that is good in the profile', async () => {
    const { der, state } = await certificateOf(former);
    const { validTo, subject } = new X509Certificate(der);
    expect(Date.parse(validTo)).toBeGreaterThan(Date.now());
    expect(state).toBe('ACTIVE');
    expect(subject).toContain(await custody().serialNumberOf(former.slice(1)));
  });
});

describe('a person whose certificate is revoked', () => {
  const msisdn = '+41700092504';

  it('gets fault 422 and is asked nothing, until the operator allows a new key', async () => {
    await expectSignature(product, await signFor(msisdn), text);
    await custody().revokeCertificate({ msisdn: msisdn.slice(1) }, 'keyCompromise');
    expectFault(await signFor(msisdn), 422);
    expectFault(
      await send(product, '/rest/service/profile', profileRequest(msisdn, 'sscds certs')),
      422,
    );
    await custody().renewCertificates(msisdn.slice(1));
    await expectSignature(product, await signFor(msisdn), text);
    expect((await certificateOf(msisdn)).state).toBe('ACTIVE');
  });

  it('signs with another device that is good, and the profile shows both states', async () => {
    const both = '+41790000010';
    const [sim] = [await certificateOf(both)];
    const serial = new X509Certificate(sim.der).serialNumber;
    await custody().revokeCertificate({ serial }, 'keyCompromise');
    const answer = await signFor(both);
    await expectSignature(product, answer, text);
    expect(answer.body.MSS_SignatureResp.SignatureProfile).toContain('Device-LoA4');
    const { body } = await send(
      product,
      '/rest/service/profile',
      profileRequest(both, 'sscds certs'),
    );
    const { Sim, App } = body.MSS_ProfileResp.Status.StatusDetail.ProfileQueryExtension.Sscds;
    expect(Sim.MobileUserCertificate[0].State).toBe('INACTIVE');
    expect(App[0].MobileUserCertificate[0].State).toBe('ACTIVE');
    expect(body.MSS_ProfileResp.SignatureProfile).not.toContain(`${vendor}STK-LoA4`);
  });
});

describe('what is published under /pki', () => {
  it('satisfies openssl ocsp by POST and GET, and openssl verify with -crl_check', async () => {
    const good = await certificateOf('+41700092503');
    const bad = await certificateOf('+41700092505');
    await custody().revokeCertificate({ msisdn: '41700092505' }, 'cessationOfOperation');
    const at = async (path: string): Promise<Uint8Array> =>
      new Uint8Array(await (await fetch(`${product.url}/pki/${path}`)).arrayBuffer());
    const { infoAccess } = new X509Certificate(good.der);
    expect(infoAccess).toContain('OCSP - URI:http://pki.test/pki/ocsp');
    const id = /pki\/(issuing-\d+)\.cer/.exec(infoAccess ?? '')?.[1] ?? '';
    expect(Buffer.from(await at(`${id}.cer`))).toEqual(good.issuing);
    const roots = await (await fetch(`${product.url}/pki/root.pem`)).text();
    const files = {
      'root.pem': roots,
      'ca.pem': pem(good.issuing),
      'all.pem': roots + pem(good.issuing),
      'good.pem': pem(good.der),
      'bad.pem': pem(bad.der),
      'list.der': await at(`${id}.crl`),
    };
    await inFolder(files, async (folder, { read }) => {
      const ask = '-issuer ca.pem -cert good.pem -cert bad.pem -CAfile root.pem -no_nonce';
      const said = await openssl(folder, `ocsp ${ask} -url ${product.url}/pki/ocsp`);
      expect(said).toMatch(/good.pem: good/);
      expect(said).toMatch(/bad.pem: revoked/);
      expect(said).toContain('Response verify OK');
      await openssl(folder, 'ocsp -issuer ca.pem -cert bad.pem -no_nonce -reqout request.der');
      const request = encodeURIComponent((await read('request.der')).toString('base64'));
      const answer = await fetch(`${product.url}/pki/ocsp/${request}`);
      expect(answer.headers.get('content-type')).toBe('application/ocsp-response');
      expect(Buffer.from(await answer.arrayBuffer()).subarray(0, 1)).toEqual(Buffer.of(0x30));
      await openssl(folder, 'crl -inform DER -in list.der -out list.pem');
      const check = 'verify -crl_check -CAfile all.pem -CRLfile list.pem';
      expect(await openssl(folder, `${check} good.pem`)).toContain('OK');
      await expect(openssl(folder, `${check} bad.pem`)).rejects.toThrow('certificate revoked');
    });
  });

  it('is 404 for authorities that do not exist, and a refusal for what is no request', async () => {
    for (const path of ['issuing-99.crl', 'root-9.cer']) {
      expect((await fetch(`${product.url}/pki/${path}`)).status).toBe(404);
    }
    const post = (path: string, body: string) =>
      fetch(`${product.url}/pki/${path}`, { method: 'POST', body });
    const refused = await post('ocsp', 'nonsense');
    expect(Buffer.from(await refused.arrayBuffer()).toString('hex')).toBe('30030a0101');
    expect((await post('tsa', 'x'.repeat(9000))).status).toBe(413);
  });

  it('gives time stamps that openssl verifies', async () => {
    const roots = await (await fetch(`${product.url}/pki/root.pem`)).text();
    await inFolder(
      { 'data.txt': 'Any file', 'root.pem': roots },
      async (folder, { read, write }) => {
        await openssl(folder, 'ts -query -data data.txt -sha256 -cert -out query.tsq');
        const response = await fetch(`${product.url}/pki/tsa`, {
          method: 'POST',
          headers: { 'content-type': 'application/timestamp-query' },
          body: Uint8Array.from(await read('query.tsq')),
        });
        expect(response.headers.get('content-type')).toBe('application/timestamp-reply');
        await write('reply.tsr', new Uint8Array(await response.arrayBuffer()));
        expect(
          await openssl(folder, 'ts -verify -in reply.tsr -queryfile query.tsq -CAfile root.pem'),
        ).toContain('Verification: OK');
      },
    );
  });
});

describe('the proof of a signature', () => {
  const shop = 'http://shop.example';
  const proofOf = (id: string, apId = shop) =>
    fetch(`${product.url}/pki/evidence/${id}`, { headers: { authorization: basic(apId) } });

  it('outlives the certificate, and is for the application that owns it', async () => {
    const answer = await product.post('/rest/service/sign', signRequest({ apId: shop }));
    const id = answer.body.MSS_SignatureResp.MSSP_TransID;
    const response = await proofOf(id);
    expect(response.status).toBe(200);
    const proof = (await response.json()) as {
      signature: string;
      timeStamp: string;
      msspTransId: string;
    };
    expect(proof.msspTransId).toBe(id);
    const trust = await custody().trust();
    const at = new Date(Date.now() + 5 * year);
    const signature = Buffer.from(proof.signature, 'base64');
    const verified = verifySignature(signature, text, { trust, at, revocation: {} });
    expect(verified).toMatchObject({
      ok: true,
      revocation: 'crl',
      timeStamp: new Date(proof.timeStamp),
    });
    expect((await proofOf(id, 'http://other.example')).status).toBe(404);
    expect((await fetch(`${product.url}/pki/evidence/${id}`)).status).toBe(401);
  });

  it('is 409 when the certificate was revoked before, and a proof of before stays good', async () => {
    const msisdn = '+41700092502';
    const answer = await product.post('/rest/service/sign', signRequest({ apId: shop, msisdn }));
    const id = answer.body.MSS_SignatureResp.MSSP_TransID;
    const before = (await (await proofOf(id)).json()) as { signature: string };
    await custody().revokeCertificate({ msisdn: msisdn.slice(1) }, 'keyCompromise');
    await expect.poll(async () => (await proofOf(id)).status).toBe(409);
    expect(await (await proofOf(id)).json()).toEqual({
      error: 'too-late',
      message: 'The certificate of the signature was revoked before',
    });
    const trust = await custody().trust();
    const signature = Buffer.from(before.signature, 'base64');
    expect(verifySignature(signature, text, { trust, revocation: {} }).ok).toBe(true);
  });

  it('is 409 for a transaction that failed, and 404 for one that does not exist', async () => {
    const id = await product.submit({ apId: shop, msisdn: '+41000092401' });
    await expect.poll(() => product.statusOf(id, shop)).toBe('_401');
    expect((await proofOf(id)).status).toBe(409);
    expect((await proofOf('H00aaaaaaaaaaaaaaaaa')).status).toBe(404);
  });
});

/** Sends for ever, or nothing. `closed` resolves when somebody hangs up. */
const openHostile = async (kind: 'endless' | 'silent') => {
  let hangUp = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const server = createServer((_, response) => {
    response.on('close', () => hangUp());
    if (kind === 'silent') return;
    const timer = setInterval(() => response.write(Buffer.alloc(16_384, 0x30)), 5);
    response.on('close', () => clearInterval(timer));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${port}/tsa`, closed, close: () => server.close() };
};

describe('another authority for time stamps', () => {
  it('stamps signatures when it is configured; one that is away gives 503, and wrong roots as well', async () => {
    const roots = await (await fetch(`${product.url}/pki/root.pem`)).text();
    const proofAt = async (
      url: string,
      pem: string,
    ): Promise<{ status: number; body: Json; trust: readonly Uint8Array[]; logged: string }> =>
      inFolder({ 'roots.pem': pem }, async (folder) => {
        const timeStampAuthority = { url, rootsFile: join(folder, 'roots.pem') };
        const other = await startTestProduct(otherRedis, {
          masterKey,
          configuration: { pki: { timeStampAuthority } },
        });
        try {
          const id = await other.submit({ apId: 'http://shop.example' });
          await expect.poll(() => other.statusOf(id, 'http://shop.example')).toBe('500');
          const headers = { authorization: basic('http://shop.example') };
          const request = new Request(`http://localhost/pki/evidence/${id}`, { headers });
          const response = await other.api.fetch(request);
          const trust = await other.core.custodyOver(other.core.commands).trust();
          const body = await response.json();
          return { status: response.status, body, trust, logged: other.logged.join('') };
        } finally {
          await other.stop();
        }
      });
    const { status, body, trust } = await proofAt(`${product.url}/pki/tsa`, roots);
    expect(status).toBe(200);
    const signature = Buffer.from(body.signature, 'base64');
    const at = new Date(Date.now() + 5 * year);
    const timeStampTrust = await custody().trust();
    expect(verifySignature(signature, text, { trust, timeStampTrust, at })).toMatchObject({
      ok: true,
    });
    expect(verifySignature(signature, text, { trust, at })).toMatchObject({ ok: false });
    const away = await proofAt('http://127.0.0.1:1/tsa', roots);
    expect([away.status, away.body.error]).toEqual([503, 'no-time-stamp']);
    for (const [kind, problem] of [
      ['endless', 'is too long'],
      ['silent', 'due to timeout'],
    ] as const) {
      const { url, closed, close } = await openHostile(kind);
      const hostile = await proofAt(url, roots);
      expect([hostile.status, hostile.body.error]).toEqual([503, 'no-time-stamp']);
      expect(hostile.logged).toContain(problem);
      await closed;
      close();
    }
    const strangers = pem(
      (
        await createKeyCustody({
          store: createMemoryCustodyStore(),
          serviceKey: masterKey,
          now: Date.now,
        }).trust()
      )[0] ?? Buffer.of(),
    );
    expect((await proofAt(`${product.url}/pki/tsa`, strangers)).status).toBe(503);
  });
});

describe('one address that asks for many signatures of the authorities', () => {
  it('is told when to come back, and still gets what is signed already', async () => {
    const ask = (path: string) =>
      fetch(`${product.url}/pki/${path}`, { method: 'POST', body: 'nonsense' });
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, index) => ask(index % 2 ? 'tsa' : 'ocsp')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(9);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await fetch(`${product.url}/pki/ocsp/MAA=`)).status).toBe(429);
    for (const path of ['issuing-1.crl', 'root-1.cer', 'root.pem']) {
      expect((await fetch(`${product.url}/pki/${path}`)).status).toBe(200);
    }
  });
});
