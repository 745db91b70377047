/**
 * A product at work: of everything that it does something, so that all that it keeps in Redis is
 * there, or has been.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect } from 'vitest';
import { startReceiver } from '../../parts/callbacks/test/stage.ts';
import { createCibaClient } from '../../parts/ciba/test/ciba-client.ts';
import type { DocumentShapes } from '../../parts/documents/configuration.ts';
import { openDocuments } from '../../parts/documents/open.ts';
import { makePdf } from '../../parts/documents/test/stage.ts';
import { createSignatureQueue } from '../../src/app/package/queue.ts';
import { settingsOf } from '../../src/app/part-rooms.ts';
import { createSubjects } from '../../src/console/login/subjects.ts';
import type { PartSettings } from '../../src/part/rooms.ts';
import { createHistory } from '../../src/transactions/history/history.ts';
import { admin, logInAs, startStage, tokenOf } from '../console/operators/stage.ts';
import { createBrowser } from '../oauth/browser-client.ts';
import { clientEntry, relyingParty, robot, secret } from '../oauth/interoperability/stage.ts';
import { basic } from '../support/caller.ts';
import { enrolPhone } from '../support/phone.ts';
import { phoneAdminOf } from '../support/phone-admin.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import type { RunningRedis } from '../support/redis-server.ts';
import { receiptRequest, type SignOptions, signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';

export const prefix = 'paraph';
const shop = 'http://shop.example';
const firstSilent = 41_791_000_000;
const broken = '+41790000002';
const slow = '+41790000003';
const vendor = 'http://mid.vendor.ch/';

const device = (sign: unknown) => ({ device: { kind: 'simulated', sign } });

/** That a client has a key (DPoP). */
const proofFor = async (address: string): Promise<string> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return new SignJWT({ htm: 'POST', htu: address, jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .setIssuedAt()
    .sign(privateKey);
};

/**
 * Starts a product at the Redis, has it do all of this, and ends it.
 * @param url How the product gets there.
 */
export const driveEverything = async (
  server: RunningRedis,
  url = `redis://127.0.0.1:${server.port}`,
): Promise<void> => {
  const receiver = await startReceiver();
  receiver.answers((response) =>
    response.writeHead(receiver.received.length === 1 ? 410 : 204).end(),
  );
  const kiosk = await createCibaClient('kiosk', {
    backchannel: { kind: 'ping', notificationEndpoint: `${receiver.url}/ping` },
  });
  const masterKey = randomBytes(32);
  const product = await startTestProduct(
    {
      url,
      connection: { host: '127.0.0.1', port: server.port, db: 0, maxRetriesPerRequest: null },
      prefix,
      client: server.client,
    },
    {
      masterKey,
      listen: true,
      workers: false,
      operations: true,
      configuration: {
        queue: { maxWaiting: 60 },
        subscribers: [
          {
            msisdn: String(firstSilent),
            through: String(firstSilent + 99),
            sim: device('never-answers'),
          },
          { msisdn: broken.slice(1), sim: device({ fault: 209 }) },
          { msisdn: slow.slice(1), sim: { device: { kind: 'robot', thinkSeconds: 2 } } },
        ],
        applicationProviders: [
          {
            id: shop,
            rateLimit: { requests: 1000, perSeconds: 60 },
            callback: { url: `${receiver.url}/ends` },
          },
        ],
        oidc: {
          tenants: [
            {
              id: 'default',
              name: 'Paraph',
              clients: [clientEntry('shop'), kiosk.entry],
            },
          ],
        },
      },
    },
  );
  try {
    await drive(product, server, url, masterKey, kiosk);
  } finally {
    await product.stop();
    await receiver.close();
  }
};

const drive = async (
  product: TestProduct,
  server: RunningRedis,
  redisUrl: string,
  masterKey: Uint8Array,
  kiosk: Awaited<ReturnType<typeof createCibaClient>>,
): Promise<void> => {
  const redis = server.client();
  const { operators } = startStage(redis, prefix, {}, masterKey);
  const queueKey = `{${prefix}-0}:signatures`;
  const post = async (operation: string, body: unknown): Promise<Json> =>
    (await product.post(`/rest/service/${operation}`, body)).body;
  const sign = (options: SignOptions) => post('sign', signRequest({ apId: shop, ...options }));
  const submit = (options: SignOptions) => product.submit({ apId: shop, ...options });
  const ended = (id: string) =>
    soon(async () => expect(await product.statusOf(id, shop)).not.toMatch(/504/));

  // Nobody takes jobs yet: what is scheduled, preferred, many, and taken back before anybody is
  // asked.
  const queue = createSignatureQueue({ redisUrl, prefix, apId: shop });
  const input = { msisdn: robot, text: 'Sign?', profile: 'Any-LoA4' } as Json;
  await queue.enqueue({ ...input, apTransId: 'later' }, { notBefore: new Date(Date.now() + 300) });
  await queue.enqueue({ ...input, apTransId: 'preferred' }, { priority: 5 });
  const handle = await queue.enqueue({ ...input, apTransId: 'cancelled' });
  expect(await handle.cancel()).toBe('cancelled');
  const same = signRequest({ apId: shop, mode: 'asynch' });
  const joined = [await post('sign', same), await post('sign', same)];
  expect(new Set(joined.map((answer) => answer.MSS_SignatureResp.MSSP_TransID)).size).toBe(1);
  // More than half of what may wait: whose they are is looked at.
  const many = await Promise.all(Array.from({ length: 40 }, () => submit({})));
  await soon(async () => expect(await redis.exists(`${queueKey}:fair:lanes`)).toBe(1));
  await product.startWorkers();
  await Promise.all(many.map(ended));
  await queue.close();

  // Failed by the service's own fault, while the rest goes on.
  const failing = await submit({ msisdn: broken });

  // Somebody logs in without a browser, and takes a while to answer.
  await product.api.prepare();
  const asked = await kiosk.ask(product, {
    login_hint: slow,
    client_notification_token: 'a-token',
  });
  expect((await kiosk.poll(product, asked.body.auth_req_id)).body.error).toBe(
    'authorization_pending',
  );

  // A number with a new owner: its certificate is revoked.
  const custody = product.core.custodyOver(product.core.commands);
  await sign({ msisdn: '+41700092509' });
  await custody.reassignNumber('41700092509');

  // Refused: it never becomes a transaction.
  expect((await post('sign', {})).Fault).toBeDefined();

  // With the phone, with an App, by a text, with a receipt.
  await sign({});
  await sign({ msisdn: '+41700092508' });
  await sign({ msisdn: '+41790009901', profile: `${vendor}MID/v1/OtpProfileText` });
  const { MSS_SignatureResp: signed } = await sign({ msisdn: '+41700092503' });
  await post(
    'receipt',
    receiptRequest(signed.MSSP_TransID, { msisdn: '+41700092503', apId: shop }),
  );

  // A phone in a browser: enrolled, asked for its push messages, a PIN that is wrong once, a
  // signature and a receipt.
  const byBrowser = '+41790300001';
  const invited = await phoneAdminOf(product).invite(byBrowser.slice(1));
  if (invited.kind !== 'invited') throw new Error(invited.kind);
  const phone = await enrolPhone({ base: product.url, send: fetch }, invited.link);
  const push = { p256dh: 'BAAA', auth: 'AAAA' };
  await phone.call('PUT', 'push', { endpoint: 'https://push.example/1', keys: push });
  const byHand = await submit({ msisdn: byBrowser });
  await phone.enterPin('000000');
  await phone.sign(await phone.prompted());
  await ended(byHand);
  const shown = post('receipt', receiptRequest(byHand, { msisdn: byBrowser, apId: shop }));
  await phone.react(await phone.prompted('receipt'), 'accepted');
  await shown;

  // Processes of several people: the first who signs is enough, one refuses, one is taken back.
  const workflow = (method: string, path: string, body?: unknown) =>
    product.api.fetch(
      new Request(`http://test/workflows/${path}`, {
        method,
        headers: { authorization: basic(shop), 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const people = [
    { name: 'A', msisdn: robot },
    { name: 'B', msisdn: `+${firstSilent + 90}` },
  ];
  const silentOnly = people.slice(1).map((each) => ({ ...each, msisdn: `+${firstSilent + 91}` }));
  for (const [id, need, signers] of [
    ['p-1', 'first', people],
    ['p-2', 'all', [{ name: 'C', msisdn: '+41000092402' }]],
    ['p-3', 'all', silentOnly],
  ] as const) {
    const steps = [{ name: 's', need, signers, onUnreached: 'fail' }];
    expect(
      (await workflow('POST', 'process', { id, input: { text: 'Sign?', steps } })).status,
    ).toBe(201);
  }
  const standingOf = async (id: string) =>
    ((await (await workflow('GET', `process/${id}`)).json()) as Json).status;
  await soon(async () => expect(await standingOf('p-1')).toBe('completed'));
  await soon(async () => expect(await standingOf('p-2')).toBe('failed'));
  expect((await workflow('DELETE', 'process/p-3')).status).toBe(202);
  await soon(async () => expect(await standingOf('p-3')).toBe('cancelled'));

  // A document that a process uses and somebody opens, and one that is deleted.
  const pdf = async (method: string, path: string): Promise<Json> => {
    const answered = await product.api.fetch(
      new Request(`http://test/documents${path}`, {
        method,
        headers: { authorization: basic(shop), 'content-type': 'application/pdf' },
        ...(method === 'POST' && { body: makePdf('A lease') }),
      }),
    );
    expect(answered.status).toBeLessThan(300);
    return answered.json();
  };
  const { documents } = await openDocuments({
    settings: settingsOf(product.configuration) as PartSettings<DocumentShapes>,
    redis: product.core.commands,
    prefix,
    serviceKey: product.core.serviceKey,
    dataDirectory: product.core.dataDirectory,
    variables: {},
    now: product.core.now,
  });
  const [lease, draft] = [await pdf('POST', ''), await pdf('POST', '')];
  await documents.use(lease.id, 'p-1', Date.now() + 60_000);
  await documents.noteOpened(lease.id, 'A');
  await pdf('DELETE', `/${draft.id}`);
  // Signed, and sealed with the evidence.
  const signs = {
    documents: [{ document: lease.id }],
    steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
  };
  expect((await workflow('POST', 'process', { id: 'p-pdf', input: signs })).status).toBe(201);
  await soon(async () => expect(await standingOf('p-pdf')).toBe('completed'));

  // By people who are silent: cancelled by an operator, then replayed, one alone and the others in
  // bulk, and cancelled again.
  await operators.users.add(admin, { name: 'ada', role: 'admin' });
  await logInAs(operators, 'ada');
  const { token } = tokenOf(
    await operators.tokens.issue({ ...admin, via: 'oidc' }, { name: 'ada', label: 'x', days: 1 }),
  );
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await fetch(`${product.url}/admin/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status, `${method} ${path}: ${await response.clone().text()}`).toBeLessThan(
      300,
    );
    return response.json();
  };
  const reason = 'They called';
  const cancel = async (id: string, attempt: number): Promise<void> => {
    await soon(async () => {
      const { context } = JSON.parse((await redis.hget(`${queueKey}:${id}`, 'progress')) ?? '{}');
      expect(context?.history.at(-1)).toMatchObject({ state: 'pending', attempt });
    });
    await ask('POST', `/transactions/${id}/cancel`, { reason });
    await ended(id);
  };
  const asleep = await Promise.all(
    [0, 1, 2].map((index) => submit({ msisdn: `+${firstSilent + index}` })),
  );
  for (const id of asleep) await cancel(id, 1);
  const [alone = '', ...together] = asleep;
  await ask('POST', `/transactions/${alone}/replay`, { reason });
  const { bulkId } = await ask('POST', '/replays', { ids: together, reason, perSecond: 100 });
  for (const id of asleep) await cancel(id, 2);
  await soon(async () => expect((await ask('GET', `/replays/${bulkId}`)).state).toBe('done'));

  // The index is made anew beside the one in use.
  const history = createHistory({
    redis: product.core.blocking,
    prefix,
    shards: 1,
    retention: product.core.retention,
    now: Date.now,
    onError: (error) => {
      throw error;
    },
  });
  await soon(() => history.rebuild());
  history.close();

  // The provider.
  const party = relyingParty(product, { id: 'shop', secret });
  const tokens = await party.tokens(robot, {
    scope: 'openid offline_access phone',
    prompt: 'consent',
  });
  await party.refresh(tokens.refresh_token);
  await party.push({}, { dpop: await proofFor(`${party.issuer}/par`) });
  await kiosk.outcome(product, asked.body.auth_req_id);
  await relyingParty(product, { id: 'shop', secret: 'wrong' }).refresh('x');

  // The console, by link and by phone.
  const subject =
    createSubjects(masterKey, 'default', () => ({ version: 1, since: 0 }))(robot) ?? '';
  await operators.users.add(admin, { name: 'robot', role: 'viewer', oidcSubject: subject });
  await operators.views.change('robot', { times: 'relative' });
  await product.api.consoleLink();
  await operators.endLocal(admin);
  const browser = createBrowser({ origin: product.url });
  const begun = await browser.request('/admin/login/oidc');
  const page = await browser.open(begun.headers.get('location') ?? '');
  const end = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
  expect((await browser.request(end.left?.href ?? '')).status).toBe(200);
  expect((await fetch(`${product.url}/readyz`)).status).toBe(200);

  await soon(async () => expect(await redis.hget(`${queueKey}:${failing}`, 'atm')).toBe('1'));
  await soon(async () => expect(await redis.zcard(`{${prefix}-0}:callbacks:failed`)).toBe(1));
  redis.disconnect();
};
