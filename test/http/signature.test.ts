/** What is signed, and with what: Base64Signature as clients take it apart. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { opensslSubjects, opensslVerify } from '../../packages/pki/test/openssl.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, signRequest } from '../support/requests.ts';
import { expectFault, expectSignature, send, sign } from './wire.ts';

const ecRobot = '41700092501';
const rsaRobot = '41700092502';
const appRobot = '41700092508';
const text = 'Zürich: 5 € an Ωmega?';

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis);
});
afterAll(() => product.stop());

const signed = async (msisdn: string): Promise<Buffer> => {
  const { body } = await sign(product, { msisdn, text });
  return Buffer.from(body.MSS_SignatureResp.MSS_Signature.Base64Signature, 'base64');
};

/** User, issuing CA and root, as the profile operation shows them. */
const chainOf = async (msisdn: string): Promise<readonly X509Certificate[]> => {
  const { body } = await send(
    product,
    '/rest/service/profile',
    profileRequest(msisdn, 'sscds certs'),
  );
  const [certificate] =
    body.MSS_ProfileResp.Status.StatusDetail.ProfileQueryExtension.Sscds.Sim.MobileUserCertificate;
  return certificate.X509Certificate.map(
    (base64: string) => new X509Certificate(Buffer.from(base64, 'base64')),
  );
};

describe.each([
  [ecRobot, 'ec', { namedCurve: 'prime256v1' }],
  [rsaRobot, 'rsa', { modulusLength: 2048 }],
] as const)('the signature of the robot %s', (msisdn, kind, details) => {
  it('verifies with openssl as clients call it, and gives back the bytes of DataToBeSigned', async () => {
    const [, , root] = await chainOf(msisdn);
    const content = await opensslVerify(await signed(msisdn), root?.raw ?? Buffer.of(), new Date());
    expect(content.toString('utf8')).toBe(text);
  });

  it('holds the certificates in the order user, issuing CA, root', async () => {
    const chain = await chainOf(msisdn);
    const subjects = await opensslSubjects(await signed(msisdn));
    expect(subjects).toHaveLength(3);
    expect(subjects[0]).toMatch(/serialNumber ?= ?MIDCHE[A-Z0-9]{10}/);
    const names = chain.map(({ subject }) => /CN=(.*)/.exec(subject)?.[1]);
    for (const [index, name] of names.entries()) expect(subjects[index]).toContain(name);
  });

  it('is made with a key of its kind, certified for three years', async () => {
    const [user] = await chainOf(msisdn);
    expect(user?.publicKey.asymmetricKeyType).toBe(kind);
    expect(user?.publicKey.asymmetricKeyDetails).toMatchObject(details);
    const from = new Date(user?.validFrom ?? '');
    const to = new Date(user?.validTo ?? '');
    expect(to.getFullYear() - from.getFullYear()).toBe(3);
    expect(user?.subject).toMatch(/^serialNumber=(MIDCHE[A-Z0-9]{10})\nCN=\1:PN$/);
  });
});

describe('a transaction approval', () => {
  const approval = {
    type: 'Transfer',
    dtbd: [
      { key: 'Amount', value: '5 €' },
      { key: 'To', value: '"Ada" & Söhne \\ Co' },
    ],
  };
  const request = (profile: string, data: Json = approval): Json => {
    const body: Json = signRequest({
      msisdn: appRobot,
      profile: `http://mid.vendor.ch/${profile}`,
    });
    body.MSS_SignatureReq.DataToBeSigned = {
      MimeType: 'application/vnd.mobileid.txn-approval',
      Encoding: 'UTF-8',
      Data: JSON.stringify(data),
    };
    return body;
  };

  it('is signed as format_version 1 and the dtbd array as JSON text', async () => {
    const answer = await send(product, '/rest/service/sign', request('Device-LoA4'));
    expect(answer.body.MSS_SignatureResp.SignatureProfile).toBe('http://mid.vendor.ch/Device-LoA4');
    const content = JSON.stringify(JSON.stringify(approval.dtbd));
    await expectSignature(product, answer, `{"format_version":1,"content_string":${content}}`);
  });

  it('is for Device-LoA4 only, else fault 107', async () => {
    expectFault(await send(product, '/rest/service/sign', request('Any-LoA4')), 107);
  });

  it.each([
    ['a type of 101 bytes', { ...approval, type: 'x'.repeat(101) }, 103],
    ['21 pairs', { ...approval, dtbd: Array(21).fill({ key: 'k', value: 'v' }) }, 103],
    ['a key of 101 bytes', { ...approval, dtbd: [{ key: 'x'.repeat(101), value: 'v' }] }, 103],
    [
      'values of 2001 bytes in sum',
      { ...approval, dtbd: [{ key: 'k', value: 'x'.repeat(2001) }] },
      103,
    ],
    ['no dtbd', { type: 'Transfer' }, 101],
  ] as const)('with %s is refused', async (_what, data, code) => {
    expectFault(await send(product, '/rest/service/sign', request('Device-LoA4', data)), code);
  });
});
