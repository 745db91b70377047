/**
 * Which method a signature profile leads to, for every kind of user; and the one-time passwords.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOutbox } from '../../src/sscd/text-gateway.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, expectSignature, send, sign } from './wire.ts';

const located = { kind: 'fix', country: 'CH' };
const lost = { kind: 'error', errorCode: '200' };

/** Numbers by what their user has. */
const users = {
  nothing: '41790000001',
  sim: '41790000002',
  app: '41790000003',
  both: '41790000004',
  rsaSim: '41700092502',
  lostSim: '41790000005',
  lostSimAndApp: '41790000006',
  inactiveApp: '41790000007',
  expiredSimAndApp: '41790000008',
  expiredSim: '41790000009',
} as const;

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        { msisdn: users.nothing },
        { msisdn: users.sim, sim: {}, location: { sim: located } },
        { msisdn: users.app, apps: [{}], location: { app: located } },
        { msisdn: users.both, sim: {}, apps: [{}], location: { sim: located, app: located } },
        { msisdn: users.lostSim, sim: {}, location: { sim: lost } },
        { msisdn: users.expiredSimAndApp, sim: { certificate: { expired: true } }, apps: [{}] },
        { msisdn: users.expiredSim, sim: { certificate: { expired: true } } },
        { msisdn: users.inactiveApp, sim: {}, apps: [{ state: 'INACTIVE' }] },
        { msisdn: users.lostSimAndApp, sim: {}, apps: [{}], location: { sim: lost, app: located } },
      ],
    },
  });
});
afterAll(() => product.stop());

const uri = (name: string): string => `http://mid.vendor.ch/${name}`;

describe('a user with no SSCD, a SIM only, an App only, both', () => {
  const columns = ['nothing', 'sim', 'app', 'both'] as const;
  it.each([
    ['Any-LoA4', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
    ['MID/v1/AuthProfile1', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
    ['STK-LoA4', 105, 'STK-LoA4', 109, 'STK-LoA4'],
    ['Device-LoA4', 105, 109, 'Device-LoA4', 'Device-LoA4'],
    ['MID/v1/AuthProfile1.ECC', 105, 'STK-LoA4', 109, 'STK-LoA4'],
    ['MID/v1/AuthProfile1.RSA', 105, 109, 109, 109],
    ['Any-Geofencing-LoA4', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
  ] as const)('is asked by %s: %s, %s, %s, %s', async (profile, ...outcomes) => {
    for (const [index, column] of columns.entries()) {
      const answer = await sign(product, { msisdn: users[column], profile: uri(profile) });
      const outcome = outcomes[index];
      if (typeof outcome === 'number') expectFault(answer, outcome);
      else {
        expect(answer.body.MSS_SignatureResp?.SignatureProfile).toBe(uri(outcome ?? ''));
        await expectSignature(product, answer, 'Sign in to Example?');
      }
    }
  });
});

describe('a user whose SIM has an expired certificate', () => {
  it('is asked by a working App, as one whose SIM is inactive; without one it is fault 422', async () => {
    const { body } = await sign(product, {
      msisdn: users.expiredSimAndApp,
      profile: uri('Any-LoA4'),
    });
    expect(body.MSS_SignatureResp?.SignatureProfile).toBe(uri('Device-LoA4'));
    expectFault(await sign(product, { msisdn: users.expiredSim, profile: uri('Any-LoA4') }), 422);
  });
});

describe('the profile of a kind of key', () => {
  it('is served by the SIM if its key is of that kind, else it is fault 109', async () => {
    const rsa = await sign(product, {
      msisdn: users.rsaSim,
      profile: uri('MID/v1/AuthProfile1.RSA'),
    });
    expect(rsa.body.MSS_SignatureResp.SignatureProfile).toBe(uri('STK-LoA4'));
    expectFault(
      await sign(product, { msisdn: users.rsaSim, profile: uri('MID/v1/AuthProfile1.ECC') }),
      109,
    );
  });
});

describe('the geofencing profile', () => {
  it('is fault 109 when the SIM cannot be located and there is no App, which would be asked instead', async () => {
    const profile = uri('Any-Geofencing-LoA4');
    expectFault(await sign(product, { msisdn: users.lostSim, profile }), 109);
    const { body } = await sign(product, { msisdn: users.lostSimAndApp, profile });
    expect(body.MSS_SignatureResp.SignatureProfile).toBe(uri('Device-LoA4'));
  });
});

describe('app2app', () => {
  const services = [
    { Description: 'http://mid.vendor.ch/as#app2app', App2App: { RedirectUri: 'myapp://back' } },
  ];
  const asking = (msisdn: string, profile: string) =>
    ({ msisdn, profile: uri(profile), mode: 'asynch', services }) as const;

  it.each(['Any-LoA4', 'MID/v1/AuthProfile1', 'Any-Geofencing-LoA4', 'Device-LoA4'])(
    'has %s ask the App of a user with SIM and App, whose signature it is',
    async (profile) => {
      const { body } = await sign(product, asking(users.both, profile));
      expect(body.MSS_SignatureResp.SignatureProfile).toBe(uri('Device-LoA4'));
      expect(body.MSS_SignatureResp.ServiceResponses).toHaveLength(1);
      const { MSSP_TransID } = body.MSS_SignatureResp;
      await expectSignature(product, await ended(product, MSSP_TransID), 'Sign in to Example?');
      const job = await product.core
        .shardsOver(product.core.commands)[0]
        ?.signatures.jobs.read(MSSP_TransID);
      expect(job?.returnValue).toMatchObject({ outcome: { sscdId: 'app-0' } });
    },
  );

  it.each([
    ['STK-LoA4', users.both, 109],
    ['MID/v1/AuthProfile1.ECC', users.both, 109],
    ['Any-LoA4', users.sim, 109],
    ['Any-LoA4', users.inactiveApp, 109],
    ['MID/v1/OtpProfileText', users.both, 109],
    ['Any-LoA4', users.nothing, 105],
  ] as const)(
    'with %s of %s, whom no App can serve, is fault %i',
    async (profile, msisdn, code) => {
      expectFault(await sign(product, asking(msisdn, profile)), code);
    },
  );
});

describe('an asynch request', () => {
  it('is answered with the method chosen as well, and faults at once when there is none', async () => {
    const request = { msisdn: users.app, mode: 'asynch' } as const;
    const { body } = await sign(product, request);
    expect(body.MSS_SignatureResp.SignatureProfile).toBe(uri('Device-LoA4'));
    expectFault(await sign(product, { ...request, profile: uri('STK-LoA4') }), 109);
  });
});

describe('a profile that the interface does not list', () => {
  it.each([
    'http://mid.vendor.ch/Other',
    'https://mid.vendor.ch/Any-LoA4',
    'http://evil.example/Any-LoA4',
  ])('is fault 109: %s', async (profile) => {
    expectFault(
      await sign(product, { profile }),
      109,
      'MSS_SignatureReq.SignatureProfile is not a known profile',
    );
  });
});

describe.each([
  ['MID/v1/OtpProfileText', false],
  ['MID/v1/OtpProfileFlash', true],
] as const)('%s', (name, flash) => {
  /** A number that nobody has registered. */
  const stranger = flash ? '+41790009901' : '+41790009902';
  const text = 'Your password: 4711';

  it('delivers the text to any number: Status 100 REQUEST_OK, no signature', async () => {
    const { body } = await sign(product, { msisdn: stranger, profile: uri(name), text });
    expect(body.MSS_SignatureResp).not.toHaveProperty('MSS_Signature');
    expect(body.MSS_SignatureResp).toMatchObject({
      SignatureProfile: uri(name),
      Status: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' },
    });
    const { prefix } = product.configuration.queue;
    const outbox = await readOutbox(product.core.commands, prefix, stranger.slice(1), Date.now());
    expect(outbox).toMatchObject([{ msisdn: stranger.slice(1), text, flash }]);
  });

  it('has a status without signature, and no receipt', async () => {
    const msspTransId = await accepted(product, {
      msisdn: '41700092501',
      profile: uri(name),
      text,
    });
    const { body } = await ended(product, msspTransId);
    expect(body.MSS_StatusResp).not.toHaveProperty('MSS_Signature');
    expect(body.MSS_StatusResp.Status.StatusMessage).toBe('REQUEST_OK');
    expectFault(await send(product, '/rest/service/receipt', receiptRequest(msspTransId)), 101);
  });
});

describe('a one-time password whose text cannot be sent', () => {
  const unreachable = { gateway: { kind: 'webhook', url: 'http://127.0.0.1:9/' } };
  let offline: TestProduct;

  beforeAll(async () => {
    offline = await startTestProduct(redis, {
      configuration: { otp: unreachable, queue: { prefix: `o-${redis.prefix.slice(-30)}` } },
    });
  });
  afterAll(() => offline.stop());

  it('is tried until TimeOut, and is then fault 209 OTA_ERROR', async () => {
    const answer = await sign(offline, {
      profile: uri('MID/v1/OtpProfileText'),
      timeoutSeconds: 1,
    });
    expectFault(answer, 209);
  });
});
