/** Several requests at a time: on one SIM, on one App, to a robot; and the same request twice. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { accepted, ended, expectFault, expectSignature, send, sign, status } from './wire.ts';

/** Somebody who lets the phone ring. */
const silent = { device: { kind: 'simulated', sign: 'never-answers' } };
const thinking = '41790000001';
const appUser = '41790000002';
/** Each test has a SIM of its own: the screens of the others are busy. */
const silentSims = { msisdn: '41790001000', through: '41790001099', sim: silent };
let taken = 0;
const silentSim = (): string => `417900010${String(taken++).padStart(2, '0')}`;

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        silentSims,
        { msisdn: thinking, sim: { device: { kind: 'robot', thinkSeconds: 0.3 } } },
        { msisdn: appUser, apps: [silent] },
        { msisdn: '41790002000', through: '41790002099', apps: [silent] },
      ],
    },
  });
});
afterAll(() => product.stop());

/** Until the prompt is on the phone, the phone is not busy. */
const shown = async (msspTransId: string): Promise<void> => {
  const isShown = () =>
    product.logged.some((line) => line.includes(msspTransId) && line.includes('device asked'));
  await expect.poll(isShown, { interval: 10 }).toBe(true);
};

const outstanding = async (msspTransId: string): Promise<void> => {
  const { body } = await status(product, msspTransId);
  expect(body.MSS_StatusResp.Status.StatusMessage).toBe('OUTSTANDING_TRANSACTION');
};

describe('a SIM', () => {
  it('that shows a prompt makes a second request fault 406 at once', async () => {
    const msisdn = silentSim();
    const first = await accepted(product, { msisdn });
    await shown(first);
    expectFault(await sign(product, { msisdn }), 406, 'Signature request already in progress.');
    await outstanding(first);
  });

  it('that is busy shows through status in asynch mode', async () => {
    const msisdn = silentSim();
    const first = await accepted(product, { msisdn });
    await shown(first);
    expectFault(await ended(product, await accepted(product, { msisdn: `+${msisdn}` })), 406);
    await outstanding(first);
  });

  it('is busy only until its prompt has lapsed', async () => {
    const msisdn = silentSim();
    expectFault(await ended(product, await accepted(product, { msisdn, timeoutSeconds: 1 })), 208);
    const next = await accepted(product, { msisdn });
    await shown(next);
    await outstanding(next);
  });

  it('does not keep another one, nor one-time passwords, from being served', async () => {
    const msisdn = silentSim();
    await shown(await accepted(product, { msisdn }));
    await shown(await accepted(product, { msisdn: silentSim() }));
    const profile = 'http://mid.vendor.ch/MID/v1/OtpProfileText';
    expect((await sign(product, { msisdn, profile })).status).toBe(200);
  });
});

describe('an App', () => {
  it('shows the second request, and the first ends 401', async () => {
    const first = await accepted(product, { msisdn: appUser });
    await shown(first);
    const second = await accepted(product, { msisdn: appUser });
    expectFault(
      await ended(product, first),
      401,
      'A newer request to the same App has replaced the request',
    );
    await shown(second);
    await outstanding(second);
  });

  it('tells the synchronous caller of the first at once', async () => {
    const request = signRequest({ msisdn: appUser, timeoutSeconds: 120 });
    const first = send(product, '/rest/service/sign', request);
    // The same request in asynch mode would be another; the log alone says that this one is on the
    // screen.
    const asked = () => product.logged.filter((line) => line.includes('device asked')).length;
    const before = asked();
    await expect.poll(asked).toBeGreaterThan(before);
    await accepted(product, { msisdn: appUser });
    expectFault(await first, 401);
  });
});

/**
 * Twelve requests at the same moment, and how each stands in the end: the reason of its Fault, or
 * its status.
 */
const settled = async (msisdn: string, at = [product]): Promise<readonly string[]> => {
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      accepted(at[index % at.length] ?? product, { msisdn }),
    ),
  );
  const standing = () =>
    Promise.all(
      ids.map(async (id) => {
        const { body } = await status(at[0] ?? product, id);
        return body.Fault?.Reason ?? body.MSS_StatusResp.Status.StatusMessage;
      }),
    );
  await expect
    .poll(
      async () => (await standing()).filter((word) => word === 'OUTSTANDING_TRANSACTION').length,
    )
    .toBe(1);
  return (await standing()).toSorted();
};

describe('requests that come at the same moment', () => {
  it('to a SIM are fault 406, all but one', async () => {
    const busy = Array(11).fill('PB_SIGNATURE_PROCESS');
    expect(await settled(silentSim())).toEqual(['OUTSTANDING_TRANSACTION', ...busy]);
  });

  it('to an App end 401, all but the one that it shows', async () => {
    const replaced = Array(11).fill('USER_CANCEL');
    expect(await settled('41790002000')).toEqual(['OUTSTANDING_TRANSACTION', ...replaced]);
  });
});

describe('a robot', () => {
  it('serves any number of requests at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        sign(product, { msisdn: thinking, text: `Sign ${index}?` }),
      ),
    );
    await Promise.all(
      answers.map((answer, index) => expectSignature(product, answer, `Sign ${index}?`)),
    );
    const ids = answers.map(({ body }) => body.MSS_SignatureResp.MSSP_TransID);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the same request sent twice', () => {
  it('while the first is open is one transaction, whose signature both callers get', async () => {
    const request = signRequest({ msisdn: thinking });
    const answers = await Promise.all(
      [1, 2, 3].map(() => send(product, '/rest/service/sign', request)),
    );
    const responses = answers.map(({ body }) => body.MSS_SignatureResp);
    expect(new Set(responses.map(({ MSSP_TransID }) => MSSP_TransID)).size).toBe(1);
    expect(new Set(responses.map(({ MSS_Signature }) => MSS_Signature.Base64Signature)).size).toBe(
      1,
    );
  });

  it('is one prompt on the phone, not a busy SIM', async () => {
    const request = signRequest({ msisdn: silentSim(), mode: 'asynch' });
    const first = await send(product, '/rest/service/sign', request);
    const { MSSP_TransID } = first.body.MSS_SignatureResp;
    await shown(MSSP_TransID);
    const second = await send(product, '/rest/service', request);
    expect(second.body.MSS_SignatureResp.MSSP_TransID).toBe(MSSP_TransID);
    await outstanding(MSSP_TransID);
  });

  it('with an App gets the same AuthUri', async () => {
    const service = {
      Description: 'http://mid.vendor.ch/as#app2app',
      App2App: { RedirectUri: 'myapp://back' },
    };
    const request = signRequest({ msisdn: appUser, mode: 'asynch', services: [service] });
    const responses = await Promise.all(
      [1, 2].map(
        async () => (await send(product, '/rest/service/sign', request)).body.MSS_SignatureResp,
      ),
    );
    expect(responses[0].ServiceResponses).toEqual(responses[1].ServiceResponses);
  });

  it.each([
    ['signed', '41700092501'],
    ['failed', '41000092401'],
  ])('after the first has %s gets that end, and asks nobody again', async (_how, msisdn) => {
    const request = signRequest({ msisdn, mode: 'asynch' });
    const ids: string[] = [];
    for (const _time of [1, 2]) {
      const { body } = await send(product, '/rest/service/sign', request);
      ids.push(body.MSS_SignatureResp.MSSP_TransID);
      await ended(product, body.MSS_SignatureResp.MSSP_TransID);
    }
    expect(ids[0]).toBe(ids[1]);
  });

  it.each([
    ['signed', '41700092501'],
    ['failed', '41000092401'],
  ])(
    'after a synchronous one has %s is answered the same at once, with no worker there',
    async (_how, msisdn) => {
      const request = signRequest({ msisdn });
      const first = await send(product, '/rest/service/sign', request);
      await product.stopWorkers();
      const second = await send(product, '/rest/service/sign', request);
      await product.startWorkers();
      const withoutTime = ({ body }: typeof first) =>
        JSON.stringify(body).replaceAll(/"Instant":"[^"]*"/g, '');
      expect(withoutTime(second)).toBe(withoutTime(first));
    },
  );

  it('joins the transaction that has ended for its TimeOut and a minute more', async () => {
    const request = signRequest({ mode: 'asynch', timeoutSeconds: 30 });
    const { body } = await send(product, '/rest/service/sign', request);
    const id = body.MSS_SignatureResp.MSSP_TransID;
    await ended(product, id);
    const queue = `{${product.configuration.queue.prefix}-0}:signatures`;
    const key = `${queue}:de:${await redis.client().hget(`${queue}:${id}`, 'deid')}`;
    const left = await redis.client().pttl(key);
    expect(left).toBeGreaterThan(80_000);
    expect(left).toBeLessThanOrEqual(90_000);
    // Its time is over.
    await redis.client().pexpire(key, 1);
    await vi.waitFor(async () => {
      const again = await send(product, '/rest/service/sign', request);
      expect(again.body.MSS_SignatureResp.MSSP_TransID).not.toBe(id);
    }, 20_000);
  });

  it('is a transaction of its own when the one before it is gone, and joins that', async () => {
    const request = signRequest({ mode: 'asynch' });
    const idOf = async (): Promise<string> =>
      (await send(product, '/rest/service/sign', request)).body.MSS_SignatureResp.MSSP_TransID;
    const id = await idOf();
    await ended(product, id);
    await redis.client().del(`{${product.configuration.queue.prefix}-0}:signatures:${id}`);
    const next = await idOf();
    expect(next).not.toBe(id);
    await ended(product, next);
    expect(await idOf()).toBe(next);
  });

  it.each([
    ['AP_Info.AP_TransID', 'OTHER-1'],
    ['AP_Info.Instant', '2024-07-02T08:06:55.134Z'],
    ['AP_Info.AP_ID', 'http://other.example'],
    ['MinorVersion', '1'],
    ['MSSP_Info.MSSP_ID.URI', 'http://mid.swisscom.ch/'],
    ['MobileUser.MSISDN', '41700092501'],
    ['MessagingMode', 'synch'],
    ['SignatureProfile', 'http://mid.vendor.ch/STK-LoA4'],
    ['TimeOut', '61'],
    ['DataToBeSigned.Data', 'Something else?'],
    ['AdditionalServices', [{ Description: 'http://mid.vendor.ch/as#subscriberInfo' }]],
  ])('but for another %s is another transaction', async (member, value) => {
    const request = signRequest({ msisdn: thinking, mode: 'asynch' });
    const ids = await Promise.all(
      [request, changed(request, `MSS_SignatureReq.${member}`, value)].map(async (body) => {
        const answer = await send(product, '/rest/service/sign', body);
        return answer.body.MSS_SignatureResp.MSSP_TransID;
      }),
    );
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('written differently, with the Instant in another zone and members in another order, is still the same', async () => {
    const request = signRequest({ msisdn: thinking, mode: 'asynch' });
    const { AP_Info, ...rest } = request.MSS_SignatureReq;
    const Instant = AP_Info.Instant.replace('Z', '+00:00');
    const again = {
      MSS_SignatureReq: { ...rest, Unknown: 1, AP_Info: { ...AP_Info, Instant, AP_PWD: 'x' } },
    };
    const ids = await Promise.all(
      [request, again].map(async (body) => {
        const answer = await send(product, '/rest/service/sign', body);
        return answer.body.MSS_SignatureResp.MSSP_TransID;
      }),
    );
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('several processes of one service', () => {
  const processes: TestProduct[] = [];

  beforeAll(async () => {
    const masterKey = randomBytes(32);
    const configuration = {
      queue: { prefix: `p-${redis.prefix.slice(-30)}` },
      subscribers: [{ msisdn: '41790002000', through: '41790002099', apps: [silent] }],
    };
    for (const workers of [false, true, true, true]) {
      processes.push(await startTestProduct(redis, { configuration, masterKey, workers }));
    }
  });
  afterAll(() => Promise.all(processes.map(({ stop }) => stop())));

  it('share transactions, keys and duplicates, whoever is asked and whoever works', async () => {
    const [one = product, other = product] = processes;
    const answer = await sign(one);
    await expectSignature(other, answer, 'Sign in to Example?');
    const { MSSP_TransID, MSS_Signature } = answer.body.MSS_SignatureResp;
    const { body } = await status(other, MSSP_TransID);
    expect(body.MSS_StatusResp.MSS_Signature).toEqual(MSS_Signature);

    const request = signRequest({ msisdn: '41700092507', mode: 'asynch' });
    const ids = await Promise.all(
      [one, other].map(async (at) => {
        const joined = await send(at, '/rest/service/sign', request);
        return joined.body.MSS_SignatureResp.MSSP_TransID;
      }),
    );
    expect(ids[0]).toBe(ids[1]);
  });

  it('leave an App with one prompt, however their steps fall among each other', {
    timeout: 180_000,
  }, async () => {
    const replaced = Array(11).fill('USER_CANCEL');
    for (let index = 0; index < 6; index += 1) {
      const user = `417900020${String(index).padStart(2, '0')}`;
      expect(await settled(user, processes)).toEqual(['OUTSTANDING_TRANSACTION', ...replaced]);
    }
  });
});
