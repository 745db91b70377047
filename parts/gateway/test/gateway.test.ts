/**
 * Devices behind gateways, over three whole products: the near one is asked, the middle one hands
 * on, and the far one has the phones. What a client hears at the near one is what it would hear at
 * the far one.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { createSelfSigned } from '../../../packages/pki/test/openssl.ts';
import { faultCodes, faultTable } from '../../../packages/protocol/src/fault.ts';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { SettingFileError } from '../../../src/environment/setting-file.ts';
import { createLogins } from '../../../src/oauth/logins.ts';
import { hashPassword } from '../../../src/registry/passwords.ts';
import { upstreamOf } from '../../../src/registry/subscriber.ts';
import { send } from '../../../test/http/wire.ts';
import { rootsOf, testFiles, textsAt } from '../../../test/support/gateway.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import {
  profileRequest,
  receiptRequest,
  type SignOptions,
  signRequest,
  statusRequest,
} from '../../../test/support/requests.ts';
import { verifyEvidence } from '../../processes/evidence/verify-evidence.ts';
import { createPollPlaces } from '../gateways.ts';

const redis = testRedis();
const writeFile = testFiles();
const secret = `upstream-${randomBytes(12).toString('hex')}`;
const text = (): string => `Text ${randomBytes(6).toString('hex')}`;
const app = { id: 'http://test.example' };

let far: TestProduct;
let middle: TestProduct;
let near: TestProduct;
let anchors: string;
let passwordFile: string;
const servers: Server[] = [];

/** Passes everything on to the far product; what it does with an answer is up to `answer`. */
const startProxy = async (
  answer: (operation: string, response: ServerResponse, body: string, status: number) => void,
): Promise<string> => {
  const server = createServer((request, response) => void passOn(request, response));
  const passOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url = '', method = 'POST' } = request;
    const headers = { 'content-type': 'application/json' };
    const given = await fetch(`${far.url}${url}`, { method, headers, body: Buffer.concat(chunks) });
    answer(url.split('/').at(-1) ?? '', response, await given.text(), given.status);
  };
  return listenAt(server);
};

const listenAt = async (server: Server): Promise<string> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const pass = (response: ServerResponse, body: string, status: number): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

/**
 * A service that keeps prompts open for ever, and refuses a request that it has seen, or asks
 * again.
 */
const startStrict = async (seenAgain: 'refuses' | 'prompts') => {
  const prompts: string[] = [];
  const seen = new Set<string>();
  let loses = 1;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { MSS_SignatureReq: sign } = JSON.parse(Buffer.concat(chunks).toString());
    const { AP_ID, AP_TransID, Instant } = sign.AP_Info;
    const name = [AP_ID, AP_TransID, Instant].join(' ');
    if (seen.has(name) && seenAgain === 'refuses') {
      const SubCode = { Value: '_101', ValueNs: 'x' };
      return pass(
        response,
        JSON.stringify({ Fault: { Code: { SubCode }, Detail: 'Seen before' } }),
        500,
      );
    }
    seen.add(name);
    prompts.push(sign.DataToBeSigned.Data);
    loses -= 1;
    response.destroy();
  });
  return { url: await listenAt(server), prompts, answersLost: () => 1 - loses };
};

let refusing: Awaited<ReturnType<typeof startStrict>>;
let forgetful: Awaited<ReturnType<typeof startStrict>>;
/** The number of answers to sign requests that the lossy proxy still loses. */
let toLose = 0;
let folder = '';

const fileAt = (name: string): string => join(folder, name);
const contentOf = (name: string): string => readFileSync(fileAt(name), 'utf8');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-gateway-tls-'));
  for (const name of ['server', 'client'])
    createSelfSigned(folder, name, '-addext', 'subjectAltName=IP:127.0.0.1');
  const prefixed = (name: string) => ({ ...redis, prefix: `${redis.prefix.slice(-20)}-${name}` });
  passwordFile = writeFile('password', `${secret}\n`);
  far = await startTestProduct(prefixed('far'), {
    listen: true,
    configuration: {
      subscribers: [
        { msisdn: '41800092500', through: '41800092599', sim: {} },
        {
          msisdn: '41800092600',
          through: '41800092609',
          sim: { device: { kind: 'simulated', sign: 'never-answers' } },
        },
      ],
      applicationProviders: [
        {
          id: 'http://middle.example',
          passwordHash: await hashPassword(secret, { ln: 10, r: 1, p: 1 }),
        },
      ],
    },
  });
  anchors = writeFile('far.pem', await rootsOf(far));
  const toFar = {
    apId: 'http://middle.example',
    apPasswordFile: passwordFile,
    trustAnchorsFile: anchors,
  };
  middle = await startTestProduct(prefixed('middle'), {
    listen: true,
    configuration: {
      sandbox: false,
      applicationProviders: [{ id: 'http://near.example' }],
      gateways: [{ ...toFar, name: 'far', url: far.url, repeats: 'joined', default: true }],
    },
  });
  const lossy = await startProxy((operation, response, body, status) => {
    if (operation !== 'sign' || toLose === 0) return pass(response, body, status);
    toLose -= 1;
    response.destroy();
  });
  [refusing, forgetful] = [await startStrict('refuses'), await startStrict('prompts')];
  const tls = createTlsServer(
    {
      cert: contentOf('server.crt'),
      key: contentOf('server.key'),
      ca: contentOf('client.crt'),
      requestCert: true,
      rejectUnauthorized: true,
    },
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const given = await fetch(`${far.url}${request.url}`, {
        ...init,
        body: Buffer.concat(chunks),
      });
      pass(response, await given.text(), given.status);
    },
  );
  const secure = (await listenAt(tls as never)).replace('http:', 'https:');
  const files = {
    certFile: fileAt('client.crt'),
    keyFile: fileAt('client.key'),
    caFile: fileAt('server.crt'),
  };
  const others = [
    { ...toFar, name: 'lossy', url: lossy, repeats: 'joined' },
    { ...toFar, name: 'refusing', url: refusing.url, repeats: 'refused' },
    { ...toFar, name: 'forgetful', url: forgetful.url },
    { ...toFar, name: 'secure', url: secure, mode: 'synch', tls: files },
    { ...toFar, name: 'synch', url: far.url, mode: 'synch', repeats: 'joined' },
    {
      ...toFar,
      name: 'mistrusted',
      url: far.url,
      trustAnchorsFile: writeFile('middle.pem', await rootsOf(middle)),
    },
    { ...toFar, name: 'refused', url: far.url, apPasswordFile: writeFile('wrong', 'wrong') },
  ];
  near = await startTestProduct(prefixed('near'), {
    configuration: {
      sandbox: false,
      applicationProviders: [app],
      subscribers: others.map(({ name }, index) => ({
        msisdn: `4180009250${index}`,
        sim: { device: { kind: 'gateway', upstream: name } },
      })),
      gateways: [
        {
          name: 'middle',
          url: middle.url,
          apId: 'http://near.example',
          repeats: 'joined',
          default: true,
          trustAnchorsFile: anchors,
        },
        ...others,
      ],
    },
  });
});

afterAll(async () => {
  for (const product of [near, middle, far]) await product.stop();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(folder, { recursive: true, force: true });
});

const endOf = (product: TestProduct, id: string): Promise<Json> =>
  vi.waitFor(
    async () => {
      const { body } = await send(product, '/rest/service/status', statusRequest(id));
      expect(body.MSS_StatusResp?.Status.StatusCode.Value).not.toBe('504');
      return body;
    },
    { timeout: 30_000, interval: 50 },
  );

/** An answer without the members that differ in each request. Signer and signed data stay. */
const comparable = async (body: Json): Promise<Json> => {
  const trust = await far.core.custodyOver(far.core.blocking).trust();
  return JSON.parse(JSON.stringify(body), (name, value) => {
    if (['MSSP_TransID', 'Instant', 'Timestamp', 'AP_TransID'].includes(name)) return 'differs';
    if (name !== 'Base64Signature') return value;
    const content = /Text \w{12}/.exec(Buffer.from(value, 'base64').toString('latin1'))?.[0] ?? '';
    const verified = verifySignature(Buffer.from(value, 'base64'), content, { trust });
    return verified.ok ? [verified.signer.serialNumber, value.length > 1000] : verified;
  });
};

const services = ['geofencing', 'subscriberInfo'].map((name) => ({
  Description: `http://mid.vendor.ch/as#${name}`,
}));
const validate = { Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' };
const language = {
  Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang',
  UserLang: { Value: 'de' },
};

const requests: readonly (readonly [string, SignOptions])[] = [
  ['an EC key', {}],
  [
    'an RSA key',
    { msisdn: '+41700092502', profile: 'http://mid.vendor.ch/MID/v1/AuthProfile1.RSA' },
  ],
  ['an App', { msisdn: '+41700092508', profile: 'http://mid.vendor.ch/Device-LoA4' }],
  ['services', { msisdn: '+41700092503', services: [...services, validate, language] }],
  ['no place', { msisdn: '+41700092510', services }],
  ['a person who is not known there either', { msisdn: '+41790000001' }],
  // The near service must have reached the far one before its own time is over.
  ['no time', { msisdn: '+41700092507', timeoutSeconds: 6 }],
  // Fault 900 is believed when it has lasted for some seconds.
  ...faultCodes
    .filter((code) => code !== 900)
    .map((code) => [`fault ${code}`, { msisdn: `+41000092${code}` }] as const),
];

describe('a client of a service behind which another one is', () => {
  it.concurrent.each(requests)('gets the same answer, field by field: %s', async (_, options) => {
    const ask = (product: TestProduct) =>
      send(product, '/rest/service/sign', signRequest({ text: text(), ...options }));
    // One after the other: a phone shows one thing at a time.
    const there = await ask(far);
    const here = await ask(near);
    expect(here.status).toBe(there.status);
    expect(await comparable(here.body)).toEqual(await comparable(there.body));
  });

  it('gets the name of the method that the other service has chosen', async () => {
    const ask = async (product: TestProduct) => {
      const request = signRequest({
        text: text(),
        msisdn: '41700092508',
        apId: 'http://near.example',
      });
      return comparable((await send(product, '/rest/service/sign', request)).body);
    };
    const here = await ask(middle);
    expect(here.MSS_SignatureResp.SignatureProfile).toBe('http://mid.vendor.ch/Device-LoA4');
    expect(here).toEqual(await ask(far));
  });

  it('gets the same answers in asynch mode', async () => {
    const words = { mode: 'asynch', text: text(), services: [...services, validate] } as const;
    const ask = async (product: TestProduct) => {
      const { body } = await send(product, '/rest/service/sign', signRequest(words));
      const end = await endOf(product, body.MSS_SignatureResp.MSSP_TransID);
      return [await comparable(body), await comparable(end)];
    };
    expect(await ask(near)).toEqual(await ask(far));
    // Each asks another phone, because a phone shows one thing at a time.
    const standing = async (product: TestProduct, msisdn: string) => {
      const id = await product.submit({ ...words, msisdn });
      const { body } = await send(product, '/rest/service/status', statusRequest(id));
      return JSON.stringify(await comparable(body)).replace(msisdn, 'differs');
    };
    expect(await standing(near, '+41800092600')).toBe(await standing(far, '+41800092601'));
  });

  it.each(['+41700092503', '+41700092504'])(
    'gets the same answer to a receipt: %s',
    async (msisdn) => {
      const ask = async (product: TestProduct) => {
        const { body } = await send(
          product,
          '/rest/service/sign',
          signRequest({ msisdn, text: text() }),
        );
        const id = body.MSS_SignatureResp.MSSP_TransID;
        const first = await send(product, '/rest/service/receipt', receiptRequest(id, { msisdn }));
        const again = await send(product, '/rest/service/receipt', receiptRequest(id, { msisdn }));
        return [await comparable(first.body), await comparable(again.body)];
      };
      expect(await ask(near)).toEqual(await ask(far));
    },
  );

  it.each([
    ['+41700092501', undefined],
    ['+41700092509', 'sscds state certs'],
    ['+41700092502', ''],
    ['+41000092402', undefined],
    ['+41790000001', undefined],
  ])('gets the same answer to a profile request: %s, %s', async (msisdn, params) => {
    const ask = async (product: TestProduct) =>
      comparable(
        (await send(product, '/rest/service/profile', profileRequest(msisdn, params))).body,
      );
    expect(await ask(near)).toEqual(await ask(far));
  });

  it('signs an approval in the order in which its pairs were written', async () => {
    const data = JSON.stringify({ type: 'Payment', dtbd: [{ value: 'CHF 10', key: 'Amount' }] });
    const request = signRequest({
      msisdn: '+41700092508',
      profile: 'http://mid.vendor.ch/Device-LoA4',
    });
    request.MSS_SignatureReq.DataToBeSigned = {
      MimeType: 'application/vnd.mobileid.txn-approval',
      Encoding: 'UTF-8',
      Data: data,
    };
    const { status } = await send(near, '/rest/service/sign', request);
    expect(status).toBe(200);
  });
});

/** The number at the near product whose gateway has this name. */
const numberOf = (gateway: string): string => {
  const known = near.configuration.subscribers.find(({ subscriber }) => {
    return subscriber.sim !== undefined && upstreamOf(subscriber.sim) === gateway;
  });
  return `+${known?.first}`;
};

/** A robot at the far product has the number, too. */
const askVia = async (gateway: string, options: SignOptions = {}) => {
  const asked = text();
  const { body } = await send(
    near,
    '/rest/service/sign',
    signRequest({ msisdn: numberOf(gateway), text: asked, ...options }),
  );
  return { asked, body };
};

const fieldsOf = async (product: TestProduct, id: string): Promise<Record<string, string>> =>
  product.core.blocking.hgetall(`{${product.configuration.queue.prefix}-0}:signatures:${id}`);

describe('a request whose answer was lost', () => {
  it('is found again at a service that joins equal ones, and the person is asked once', async () => {
    toLose = 3;
    const { asked, body } = await askVia('lossy');
    expect(body.MSS_SignatureResp.Status.StatusCode.Value).toBe('500');
    expect(toLose).toBe(0);
    expect((await textsAt(far)).filter((each) => each === asked)).toEqual([asked]);
  });

  it('ends with a clear fault where it is refused, and the person is asked once', async () => {
    const { asked, body } = await askVia('refusing');
    expect(body.Fault).toMatchObject({
      Code: { SubCode: { Value: '_900' } },
      Detail: expect.stringContaining('not known whether'),
    });
    expect(refusing.prompts.filter((each) => each === asked)).toEqual([asked]);
  });

  it('is not sent again to a service that might ask again', async () => {
    const { asked, body } = await askVia('forgetful');
    expect(body.Fault.Detail).toContain('not known whether');
    expect(forgetful.prompts.filter((each) => each === asked)).toEqual([asked]);
  });
});

describe('a gateway', () => {
  it.each(['secure', 'synch'])('has a signature through %s', async (gateway) => {
    const { body } = await askVia(gateway);
    expect(body.MSS_SignatureResp?.Status.StatusCode.Value).toBe('500');
    expect((await textsAt(far)).length).toBeGreaterThan(0);
  });

  it('brings no signature that does not lead to its trust anchors', async () => {
    const { body } = await askVia('mistrusted');
    expect(body.Fault.Code.SubCode.Value).toBe('_900');
    expect(near.logged.join('')).toContain('A stored end was not believed');
  });

  it('hands on the fault by which it refuses us', async () => {
    expect((await askVia('refused')).body.Fault.Reason).toBe(faultTable[104].reason);
  });

  it('is the only one who can bring an answer for the devices behind it', async () => {
    const id = await near.submit({ msisdn: '+41800092602', text: text() });
    await vi.waitFor(
      async () => expect((await fieldsOf(near, id))['upstream:1']).toContain('msspTransId'),
      20_000,
    );
    const { asked, body } = await askVia('synch');
    const cms = body.MSS_SignatureResp.MSS_Signature.Base64Signature;
    expect(asked).not.toBe('');
    expect(await near.api.transactions.answer(id, 1, { kind: 'signature', cms })).toBe('accepted');
    expect((await endOf(near, id)).Fault.Code.SubCode.Value).toBe('_900');
  });

  it('leaves the id of its transaction with ours, in the record and in the log', async () => {
    const { body } = await askVia('synch');
    const id = body.MSS_SignatureResp.MSSP_TransID;
    const job = await fieldsOf(near, id);
    const note = JSON.parse(job['upstream:1'] ?? '');
    expect(note).toMatchObject({ gateway: 'synch', msspTransId: expect.stringMatching(/^H/) });
    expect(JSON.parse(job.returnvalue ?? '').outcome.upstream).toEqual({
      gateway: 'synch',
      msspTransId: note.msspTransId,
    });
    const theirs = JSON.parse((await fieldsOf(far, note.msspTransId)).data ?? '');
    expect(theirs.MSS_SignatureReq.AP_Info.AP_TransID).toBe(`${id}-1`);
    const asynch = await near.submit({ text: text() });
    await endOf(near, asynch);
    const asked = near.logged.find(
      (line) => line.includes('"device asked"') && line.includes(asynch),
    );
    expect(JSON.parse(asked ?? '').upstream.gateway).toBe('middle');
  });

  it('shows the transaction there on the page of ours', async () => {
    const { body } = await askVia('synch');
    const id = body.MSS_SignatureResp.MSSP_TransID;
    const { msspTransId } = JSON.parse((await fieldsOf(near, id))['upstream:1'] ?? '');
    const token = new URL(await near.api.consoleLink()).searchParams.get('token') ?? '';
    const fetchPage = (path: string, init: RequestInit = {}) =>
      near.api.fetch(new Request(`http://test${path}`, init));
    const login = await fetchPage('/admin/login/link', {
      method: 'POST',
      headers: { origin: 'http://test', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }),
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    await vi.waitFor(async () => {
      const page = await fetchPage(`/admin/transactions/${id}`, { headers: { cookie } });
      expect(await page.text()).toContain(msspTransId);
    }, 20_000);
  });

  it('lets a person log in, whose certificate is of the other service', async () => {
    const logins = createLogins({
      protocol: near.core.protocol,
      transactions: near.api.transactions,
      subscribers: near.core.subscribers,
      authority: 'mid.vendor.ch',
      promptSeconds: 30,
      trust: () => near.core.custodyOver(near.core.commands).trust(),
      serialNumberOf: (msisdn) => near.core.custodyOver(near.core.commands).serialNumberOf(msisdn),
      upstreamTrust: near.core.services.trust,
      busy: () => false,
      now: Date.now,
    });
    const reference = `T${randomBytes(16).toString('hex')}`;
    const msisdn = '41700092501';
    const start = await logins.start({
      tenant: near.api.oauth.tenants.main,
      client: { name: 'Shop', loginText: {} } as never,
      msisdn,
      language: 'en',
      acrValues: [],
      scopes: new Set(['openid']),
      dtbd: undefined,
      sessionCode: 'X7Q2',
      matchNumber: undefined,
      reference,
      begunAt: Date.now(),
    });
    if (start.kind !== 'started') throw new Error(start.kind);
    await logins.ended(start.msspTransId, Date.now() + 10_000, new AbortController().signal);
    const serialNumber = await far.core.custodyOver(far.core.blocking).serialNumberOf(msisdn);
    expect(await logins.look(start, { reference, msisdn, acrValues: [] })).toMatchObject({
      kind: 'signed',
      evidence: { serialNumber, amr: ['mid_sim'] },
    });
  });

  it('has its signatures in evidence records, with the transaction there', async () => {
    const authorization = `Basic ${Buffer.from(`${encodeURIComponent(app.id)}:`).toString('base64')}`;
    const ask = async (path: string, body?: object): Promise<Response> => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const headers = { authorization, 'content-type': 'application/json' };
      return near.api.fetch(
        new Request(`http://test/workflows/process${path}`, { headers, ...init }),
      );
    };
    const signers = [{ name: 'Anna Muster', msisdn: '+41700092501' }];
    const input = { title: 'Contract', text: text(), steps: [{ name: 'Customer', signers }] };
    expect((await ask('', { id: 'contract-1', input })).status).toBeLessThan(300);
    const evidence: string = await vi.waitFor(
      async () => {
        const { output }: Json = await (await ask('/contract-1')).json();
        expect(output?.evidence).toBeTypeOf('string');
        return output.evidence;
      },
      { timeout: 20_000 },
    );
    const serviceRoots = await rootsOf(near);
    const gatewayRoots = { middle: await rootsOf(far) };
    const verified = await verifyEvidence(evidence, {
      serviceRoots,
      gatewayRoots,
      definition: input,
    });
    expect(verified).toMatchObject({
      ok: true,
      evidence: {
        signatures: [{ upstream: { gateway: 'middle', msspTransId: expect.stringMatching(/^H/) } }],
      },
    });
    expect(await verifyEvidence(evidence, { serviceRoots })).toMatchObject({
      problems: [{ reason: 'NO_GATEWAY_ROOTS' }],
    });
  });

  it('never has its password or key in a log, a job or an answer', async () => {
    const { body } = await askVia('secure');
    const kept: string[] = [JSON.stringify(body), ...near.logged, ...middle.logged, ...far.logged];
    for (const product of [near, middle]) {
      const { blocking, configuration } = product.core;
      for (const key of await blocking.keys(`{${configuration.queue.prefix}-0}:*`))
        if ((await blocking.type(key)) === 'hash')
          kept.push(JSON.stringify(await blocking.hgetall(key)));
    }
    expect(kept.length).toBeGreaterThan(100);
    const key = contentOf('client.key').split('\n')[1] ?? '';
    const certificateLine = contentOf('client.crt').split('\n')[1] ?? '';
    const all = kept.join('\n');
    for (const word of [secret, key, certificateLine]) expect(all.includes(word)).toBe(false);
  });
});

describe('status requests', () => {
  it('have places: as many in a second as were allowed, the others later', () => {
    const placeFor = createPollPlaces(10);
    const times = Array.from({ length: 35 }, () => placeFor(5000));
    const inSecond = (second: number) =>
      times.filter((at) => Math.floor(at / 1000) === second).length;
    expect([5, 6, 7, 8].map(inSecond)).toEqual([10, 10, 10, 5]);
    expect(placeFor(20_100)).toBe(20_100);
    expect(times.every((at) => at >= 5000)).toBe(true);
  });
});

describe('the configuration of gateways', () => {
  const gateway = {
    name: 'far',
    url: 'https://far.example',
    apId: 'us',
    trustAnchorsFile: 'roots.pem',
  };
  const problemsWith = (configuration: object): readonly string[] => {
    const loaded = parseConfiguration(JSON.stringify(configuration));
    return loaded.ok ? [] : loaded.problems;
  };

  it.each([
    [{ gateways: [gateway, gateway] }, 'gateways[1].name: is the same as gateways[0].name'],
    [{ gateways: [{ ...gateway, url: 'http://far.example' }] }, 'gateways[0].url: must be https'],
    [
      { gateways: [{ ...gateway, url: 'https://me:pw@far.example' }] },
      'gateways[0].url: must be an http',
    ],
    [
      {
        gateways: [
          { ...gateway, default: true },
          { ...gateway, name: 'b', default: true },
        ],
      },
      'gateways[1].default: gateways[0] is the default already',
    ],
    [
      {
        subscribers: [
          { msisdn: '41790000001', sim: { device: { kind: 'gateway', upstream: 'x' } } },
        ],
      },
      'subscribers[0]: has a device whose upstream gateways does not name',
    ],
    [
      {
        gateways: [gateway],
        subscribers: [
          {
            msisdn: '41790000001',
            sim: { device: { kind: 'gateway', upstream: 'far' } },
            apps: [{}],
          },
        ],
      },
      'subscribers[0].apps: must all be behind',
    ],
  ])('names what is wrong: %#', (configuration, problem) => {
    expect(problemsWith(configuration)).toEqual([expect.stringContaining(problem)]);
  });

  it.each(['apPasswordFile', 'trustAnchorsFile'])(
    'names the key of a file that is not there: %s',
    async (key) => {
      const roots = { trustAnchorsFile: anchors };
      const configuration = { gateways: [{ ...gateway, ...roots, [key]: '/nowhere/secret-path' }] };
      const starting = startTestProduct(
        { ...redis, prefix: `${redis.prefix.slice(-20)}-bad` },
        { configuration },
      );
      const error: Error = await starting.then(
        () => new Error('it started'),
        (reason: Error) => reason,
      );
      expect(error).toBeInstanceOf(SettingFileError);
      expect(error.message).toBe(`gateways[0].${key}: the file cannot be read (ENOENT)`);
    },
  );
});
