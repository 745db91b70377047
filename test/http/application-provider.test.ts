/** Who may call, and what for: AP_ID, AP_PWD, profiles, services, prefix and rate. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { changed } from '../../packages/protocol/test/samples.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { accepted, expectFault, send, sign, type WireAnswer } from './wire.ts';

const open = 'mid://open.example';
const guarded = 'mid://guarded.example';
const narrow = 'mid://narrow.example';
const prefixed = 'mid://prefixed.example';
const rated = 'mid://rated.example';
const password = 'kennwort-ÄÖ-1';

const redis = testRedis();
/** A service that knows its APs. */
let product: TestProduct;
let sandbox: TestProduct;

beforeAll(async () => {
  const applicationProviders = [
    { id: open },
    { id: guarded, passwordHash: await hashPassword(password, { ln: 10, r: 1, p: 1 }) },
    { id: narrow, profiles: ['STK-LoA4'], services: ['userLang', 'subscriberInfo'] },
    { id: prefixed, dtbsPrefix: 'Bank Ltd: ' },
    { id: rated, rateLimit: { requests: 3, perSeconds: 3600 } },
  ];
  product = await startTestProduct(redis, {
    configuration: {
      sandbox: false,
      applicationProviders,
      // The range holds the number of the health check, which nobody can have.
      subscribers: [
        { msisdn: '41700092501', sim: {}, apps: [{}] },
        { msisdn: '41000000000', through: '41000000009', sim: {} },
      ],
    },
  });
  sandbox = await startTestProduct(redis, {
    configuration: { applicationProviders, queue: { prefix: `s-${redis.prefix.slice(-30)}` } },
  });
});
afterAll(() => Promise.all([product.stop(), sandbox.stop()]));

/** All four operations in the name of an AP. */
const requests = (apId: string, apPassword?: unknown) =>
  [signRequest(), statusRequest('HEhm77lu'), receiptRequest('HEhm77lu'), profileRequest()].map(
    (request) => {
      const [wrapper] = Object.keys(request);
      const named = changed(request, `${wrapper}.AP_Info.AP_ID`, apId);
      return apPassword === undefined
        ? named
        : changed(named, `${wrapper}.AP_Info.AP_PWD`, apPassword);
    },
  );

const call = (at: TestProduct, bodies: readonly unknown[]): Promise<readonly WireAnswer[]> =>
  Promise.all(bodies.map((body) => send(at, '/rest/service', body)));

const reason = ({ body }: WireAnswer): string => body.Fault?.Reason ?? 'none';

describe('AP_PWD', () => {
  it('that is right lets every operation through', async () => {
    const answers = await call(product, requests(guarded, password));
    expect(answers.map(reason)).toEqual(['none', 'WRONG_PARAM', 'WRONG_PARAM', 'none']);
  });

  it('that is wrong, missing, empty or overlong is the same fault 104 at every operation', async () => {
    const wrong = [`${password}x`, password.toUpperCase(), undefined, null, '', 'x'.repeat(2000)];
    const answers = await call(
      product,
      wrong.flatMap((text) => requests(guarded, text)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers) expectFault(answer, 104, faultTable[104].detail);
  });

  it('is ignored when the AP was registered without one', async () => {
    for (const text of ['not-used', '', null]) {
      const [answer] = await call(product, requests(open, text));
      expect(answer?.status).toBe(200);
    }
  });

  it('is checked in a sandbox, too, where an AP is registered with one', async () => {
    const [denied] = await call(sandbox, requests(guarded, 'wrong'));
    const [let1] = await call(sandbox, requests(guarded, password));
    expect([denied, let1].map((answer) => answer?.status)).toEqual([500, 200]);
  });
});

describe('an AP_ID', () => {
  it('that nobody registered is fault 104, in the very bytes of a wrong password', async () => {
    const unknown = await call(product, [
      ...requests('mid://stranger.example'),
      ...requests('mid://stranger.example', password),
      ...requests('__proto__x'),
    ]);
    const [wrong] = await call(product, requests(guarded, 'wrong'));
    expect(new Set(unknown.map(({ text }) => text))).toEqual(new Set([wrong?.text]));
  });

  it('is any at all in a sandbox', async () => {
    const [answer] = await call(sandbox, requests('mid://stranger.example', 'anything'));
    expect(answer?.status).toBe(200);
  });
});

describe('an AP', () => {
  it('that is not allowed a profile gets fault 109, at sign in both modes', async () => {
    const profile = 'http://mid.vendor.ch/Device-LoA4';
    for (const mode of ['synch', 'asynch'] as const) {
      const answer = await sign(product, { apId: narrow, profile, mode });
      expectFault(answer, 109, 'The AP may not use this signature profile');
    }
    const allowed = 'http://mid.vendor.ch/STK-LoA4';
    expect((await sign(product, { apId: narrow, profile: allowed })).status).toBe(200);
  });

  it('that has not subscribed to a service gets fault 104', async () => {
    const profile = 'http://mid.vendor.ch/STK-LoA4';
    for (const name of ['geofencing', 'app2app']) {
      const service = {
        Description: `http://mid.vendor.ch/as#${name}`,
        App2App: { RedirectUri: 'myapp://back' },
      };
      const answer = await sign(product, {
        apId: narrow,
        profile,
        mode: 'asynch',
        services: [service],
      });
      expectFault(answer, 104, faultTable[104].detail);
    }
    const services = [{ Description: 'http://mid.vendor.ch/as#subscriberInfo' }];
    expect((await sign(product, { apId: narrow, profile, services })).status).toBe(200);
  });

  it('with a mandatory prefix gets fault 107 for data without it', async () => {
    expectFault(
      await sign(product, { apId: prefixed, text: 'bank ltd: ok?' }),
      107,
      'DTBD matching failed',
    );
    expectFault(
      await sign(product, { apId: prefixed, text: ' Bank Ltd: ok?', mode: 'asynch' }),
      107,
    );
    expect((await sign(product, { apId: prefixed, text: 'Bank Ltd: ok?' })).status).toBe(200);
  });

  it('with a mandatory prefix gets fault 107 for a receipt without it, and may send another one', async () => {
    const { body } = await sign(product, { apId: prefixed, text: 'Bank Ltd: ok?' });
    const receipt = (text: string) => {
      const request = receiptRequest(body.MSS_SignatureResp.MSSP_TransID, { apId: prefixed });
      return send(
        product,
        '/rest/service/receipt',
        changed(request, 'MSS_ReceiptReq.Message.Data', text),
      );
    };
    for (const text of ['Signed.', 'bank ltd: signed.', ' Bank Ltd: signed.'])
      expectFault(await receipt(text), 107, 'DTBD matching failed');
    expect((await receipt('Bank Ltd: signed.')).status).toBe(200);
  });

  it('gets 101 Illegal msisdn for the health-check number, whatever it may do, and 104 when unknown', async () => {
    const msisdn = '+41000000000';
    for (const at of [product, sandbox]) {
      for (const apId of [open, narrow, prefixed]) {
        for (const mode of ['synch', 'asynch'] as const) {
          expectFault(
            await sign(at, { apId, msisdn, mode, text: 'Heartbeat' }),
            101,
            'Illegal msisdn',
          );
        }
        for (const request of [
          receiptRequest('HEhm77lu', { apId, msisdn }),
          profileRequest(msisdn),
        ]) {
          const [wrapper = ''] = Object.keys(request);
          const body = changed(request, `${wrapper}.AP_Info.AP_ID`, apId);
          expectFault(await send(at, '/rest/service', body), 101, 'Illegal msisdn');
        }
      }
    }
    expectFault(await sign(product, { apId: 'mid://stranger.example', msisdn }), 104);
    const [denied] = await call(product, [
      changed(requests(guarded, 'wrong')[0], 'MSS_SignatureReq.MobileUser.MSISDN', msisdn),
    ]);
    expect(denied && reason(denied)).toBe('UNAUTHORIZED_ACCESS');
  });

  it('with a prefix must have it in the first pair of a transaction approval', async () => {
    const approve = (value: string) =>
      changed(
        signRequest({ apId: prefixed, profile: 'http://mid.vendor.ch/Device-LoA4' }),
        'MSS_SignatureReq.DataToBeSigned',
        {
          MimeType: 'application/vnd.mobileid.txn-approval',
          Encoding: 'UTF-8',
          Data: JSON.stringify({ type: 'Bank Ltd: Pay', dtbd: [{ key: 'What', value }] }),
        },
      );
    const [without, within] = await call(product, [approve('5 €'), approve('Bank Ltd: 5 €')]);
    expect([without, within].map((answer) => answer?.status)).toEqual([500, 200]);
  });

  it('that calls too often gets fault 104, and no other AP does', async () => {
    const answers: WireAnswer[] = [];
    for (const [request] of Array.from({ length: 5 }, () => requests(rated).reverse())) {
      answers.push(...(await call(product, [request])));
    }
    expect(answers.map(reason)).toEqual([
      'none',
      'none',
      'none',
      'UNAUTHORIZED_ACCESS',
      'UNAUTHORIZED_ACCESS',
    ]);
    const refused = await sign(product, { apId: rated });
    expectFault(refused, 104, 'Request rate exceeded');
    expect(refused.retryAfter).toBe('1');
    expect((await sign(product, { apId: guarded })).retryAfter).toBeUndefined();
    expect((await sign(product, { apId: open })).status).toBe(200);
  });

  it('may not ask for the status of a transaction whose password it does not know', async () => {
    const request = changed(
      signRequest({ apId: guarded, mode: 'asynch' }),
      'MSS_SignatureReq.AP_Info.AP_PWD',
      password,
    );
    const { body } = await send(product, '/rest/service/sign', request);
    const { MSSP_TransID } = body.MSS_SignatureResp;
    const asked = statusRequest(MSSP_TransID, guarded);
    expectFault(await send(product, '/rest/service/status', asked), 104);
    const proven = changed(asked, 'MSS_StatusReq.AP_Info.AP_PWD', password);
    expect((await send(product, '/rest/service/status', proven)).status).toBe(200);
  });
});

describe('the test users', () => {
  it('exist in a sandbox alone', async () => {
    expectFault(await sign(product, { apId: open, msisdn: '41700092502' }), 105);
    expectFault(await sign(product, { apId: open, msisdn: '41000092401' }), 105);
    await accepted(sandbox, { msisdn: '41000092401' });
  });
});
