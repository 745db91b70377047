/**
 * `paraph clients rotate`, `disable-…` and `end-tokens`, against two processes that run: both
 * follow without a restart.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { me } from '../cli/operations-stage.ts';
import { run } from '../cli/terminal.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { formIn } from './browser-client.ts';
import {
  clientEntry,
  offline,
  relyingParty,
  returned,
  robot,
  roomyLimits,
  secret,
} from './interoperability/stage.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-clients-'));
const masterKey = randomBytes(32);
let products: readonly TestProduct[];
/** One login counts for a while, at a process of the same service. */
let signOn: TestProduct;

const ids = [
  'rotated',
  'twice',
  'closed',
  'ended',
  'other',
  'refiled',
  'foreign',
  'single',
  'resumed',
  'damaged',
  'beside',
] as const;
const clients = [
  ...ids.map((id) => clientEntry(id)),
  clientEntry('app', { authentication: 'none' }),
];
const configuration = {
  oidc: { limits: roomyLimits, tenants: [{ id: 'main', name: 'Main', clients }] },
  queue: { prefix: redis.prefix.slice(-32) },
};
const withSignOn = { ...configuration, oidc: { ...configuration.oidc, singleSignOnSeconds: 600 } };
const env = {
  REDIS_URL: redis.url,
  PARAPH_CONFIG: join(folder, 'paraph.json'),
  PARAPH_DATA: folder,
  PARAPH_MASTER_KEY: masterKey.toString('base64url'),
};

beforeAll(async () => {
  writeFileSync(env.PARAPH_CONFIG, JSON.stringify({ sandbox: true, ...configuration }));
  const start = () =>
    startTestProduct(redis, { configuration, masterKey, serviceKey: 'random', listen: true });
  products = [await start(), await start()];
  signOn = await startTestProduct(redis, {
    configuration: withSignOn,
    masterKey,
    serviceKey: 'random',
    listen: true,
  });
  await Promise.all(products.map(({ api }) => api.oauth.prepare()));
});
afterAll(async () => {
  await Promise.all([...products, signOn].map((product) => product.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Where the clock of its machine is an hour wrong. */
const clientsCommand = async (...more: readonly string[]) => {
  const now = () => Date.now() + 3_600_000;
  const { exitCode, json, stderr } = await run(['clients', ...more, '--json'], { env, now });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return json();
};

/** Of a push and of a token request, at each process. */
const statuses = async (id: string, password: string): Promise<readonly number[]> => {
  const answers = products.flatMap((product) => {
    const party = relyingParty(product, { id, secret: password });
    return [party.push(), party.refresh('unknown')];
  });
  return (await Promise.all(answers)).map(({ status }) => status);
};
const letIn = [201, 400, 201, 400];
const keptOut = [401, 401, 401, 401];

const becomes = (id: string, password: string, expected: readonly number[]) =>
  vi.waitFor(async () => expect(await statuses(id, password)).toEqual(expected), {
    timeout: 20_000,
    interval: 200,
  });

describe('the secret of a client', () => {
  it('is rotated while both of two count, and the older one is then ended', async () => {
    const rotated = await clientsCommand('rotate', 'rotated');
    expect(rotated).toMatchObject({ client: 'rotated', secrets: [null, expect.any(String)] });
    expect(Buffer.from(rotated.secret, 'base64url')).toHaveLength(32);
    await becomes('rotated', rotated.secret, letIn);
    expect(await statuses('rotated', secret)).toEqual(letIn);
    await clientsCommand('disable-older', 'rotated');
    await becomes('rotated', secret, keptOut);
    expect(await statuses('rotated', rotated.secret)).toEqual(letIn);
    expect(await statuses('other', secret)).toEqual(letIn);
  });

  it('is one of two at most: with the third the first ends', async () => {
    const [first, second] = [
      await clientsCommand('rotate', 'twice'),
      await clientsCommand('rotate', 'twice'),
    ];
    expect(second.secrets).toHaveLength(2);
    await becomes('twice', second.secret, letIn);
    expect(await statuses('twice', first.secret)).toEqual(letIn);
    expect(await statuses('twice', secret)).toEqual(keptOut);
  });

  it('is ended without another one, until a new one is made', async () => {
    expect(await clientsCommand('disable-all', 'closed')).toMatchObject({ secrets: [] });
    await becomes('closed', secret, keptOut);
    const again = await clientsCommand('rotate', 'closed');
    await becomes('closed', again.secret, letIn);
    expect(await statuses('closed', secret)).toEqual(keptOut);
  });

  it('is that of the file again when the file gets another one, and an ended one stays ended', async () => {
    await clientsCommand('disable-all', 'refiled');
    await becomes('refiled', secret, keptOut);
    const changed = clientEntry('refiled', {
      secretHash:
        '$scrypt$ln=10,r=8,p=1$5sAOLsdjgvOuUFEiskUnug$ZlZuCWV1Bc98qEgHhW2IlTbPMgNIEkYDVQxkbL2NFxg',
    });
    const tenants = [{ id: 'main', name: 'Main', clients: [changed] }];
    const newFile = { ...configuration, oidc: { limits: roomyLimits, tenants } };
    const later = await startTestProduct(redis, {
      configuration: newFile,
      masterKey,
      serviceKey: 'random',
      listen: true,
    });
    const statusOf = async (password: string) =>
      (await relyingParty(later, { id: 'refiled', secret: password }).push()).status;
    expect(await statusOf('demo-secret')).toBe(201);
    writeFileSync(env.PARAPH_CONFIG, JSON.stringify({ sandbox: true, ...newFile }));
    const { secret: made } = await clientsCommand('rotate', 'refiled');
    writeFileSync(env.PARAPH_CONFIG, JSON.stringify({ sandbox: true, ...configuration }));
    await vi.waitFor(async () => expect(await statusOf(made)).toBe(201), {
      timeout: 20_000,
      interval: 200,
    });
    // The processes with the earlier file have read the new change by then.
    await delay(2100);
    expect(await statuses('refiled', secret)).toEqual(keptOut);
    await later.stop();
  });

  it('is not made for a client that has none, and not for an unknown one', async () => {
    for (const [id, code] of [
      ['app', 7],
      ['nobody', 8],
    ] as const) {
      expect((await run(['clients', 'rotate', id], { env })).exitCode).toBe(code);
    }
  });

  it('is not changed under another master key, which the service could not open', async () => {
    const wrong = { ...env, PARAPH_MASTER_KEY: randomBytes(32).toString('base64url') };
    const { exitCode, stderr } = await run(['clients', 'rotate', 'foreign'], { env: wrong });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('master key does not open')]);
    const { secrets } = await clientsCommand('show', 'foreign');
    expect(secrets).toEqual([null]);
  });

  it('is none while its record cannot be opened, which is logged and stops nothing else', async () => {
    await clientsCommand('disable-all', 'damaged');
    await redis
      .client()
      .hset(`${configuration.queue.prefix}:oidc:main:clients`, 'damaged', 'nonsense');
    const { secret: made } = await clientsCommand('rotate', 'beside');
    await becomes('beside', made, letIn);
    expect(await statuses('damaged', secret)).toEqual(keptOut);
    for (const { logged } of products) expect(logged.join('')).toContain('client damaged');
    const later = await startTestProduct(redis, {
      configuration,
      masterKey,
      serviceKey: 'random',
      listen: true,
    });
    const answer = await relyingParty(later, { id: 'damaged', secret }).push();
    await later.stop();
    expect(answer.status).toBe(401);
    const again = await clientsCommand('rotate', 'damaged');
    expect(again.secrets).toHaveLength(1);
    await becomes('damaged', again.secret, letIn);
  });

  it('is in no value of Redis, and its change is in the audit log', async () => {
    const { secret: made } = await clientsCommand('rotate', 'other');
    const stored = await redis.client().hgetall(`${configuration.queue.prefix}:oidc:main:clients`);
    expect(stored.other).toMatch(/^ey/);
    expect(JSON.stringify(stored)).not.toContain(made);
    const { entries } = (await run(['audit', '--json'], { env })).json();
    expect(entries).toContainEqual(
      expect.objectContaining({ who: me, action: 'client-change', target: 'other' }),
    );
    expect(JSON.stringify(entries)).not.toContain(made);
  });
});

describe('the tokens of a client', () => {
  it('end all at once, and only those of logins so far and of this client', async () => {
    const [one, two] = products.map((product) => relyingParty(product, { id: 'ended', secret }));
    if (one === undefined || two === undefined) throw new Error('no process');
    const app = relyingParty(products[0] as TestProduct, { id: 'app' });
    const before = await one.tokens(robot, offline);
    const ofApp = await app.tokens(robot, offline);
    const pending = await one.logIn(robot, offline);
    expect(await clientsCommand('end-tokens', 'ended')).toMatchObject({
      endedBefore: expect.any(String),
    });
    const after = await two.tokens(robot, offline);
    await vi.waitFor(async () => {
      expect((await one.userinfo(before.access_token)).status).toBe(401);
      expect((await two.userinfo(before.access_token)).status).toBe(401);
    }, 20_000);
    expect((await two.introspect(before.access_token)).body).toEqual({ active: false });
    expect((await two.refresh(before.refresh_token)).body.error).toBe('invalid_grant');
    expect((await one.redeem(pending)).body.error).toBe('invalid_grant');
    expect((await app.refresh(ofApp.refresh_token)).status).toBe(200);
    expect((await one.refresh(after.refresh_token)).status).toBe(200);
  });

  it('are not given for an earlier login either, where one login counts for a while', async () => {
    const party = relyingParty(signOn, { id: 'single', secret });
    const { browser } = await party.logIn(robot);
    const again = await party.visit({}, browser);
    expect(returned(again.page).code).toEqual(expect.any(String));
    await clientsCommand('end-tokens', 'single');
    await delay(2100);
    const { page } = await party.visit({}, browser);
    expect(page.left).toBeUndefined();
    expect(formIn(page.html, 'number')).toBeDefined();
    expect((await party.redeem(await party.logIn(robot, {}, browser))).status).toBe(200);
  });

  it('are not given for a login that ended before and comes back after', async () => {
    const party = relyingParty(signOn, { id: 'resumed', secret });
    const visit = await party.visit();
    const waiting = await visit.browser.submit(visit.page, 'number', { msisdn: `+${robot}` });
    const resume = await vi.waitFor(async () => {
      const { headers } = await visit.browser.request(`${waiting.url}/finish`);
      expect(headers.get('location')).toContain('/auth/');
      return headers.get('location') ?? '';
    }, 20_000);
    await clientsCommand('end-tokens', 'resumed');
    await delay(2100);
    const page = await visit.browser.open(resume);
    expect(page.left).toBeUndefined();
    expect(formIn(page.html, 'number')).toBeDefined();
    const { code = '' } = returned(await party.confirm({ ...visit, page }));
    expect((await party.redeem({ ...visit, code })).status).toBe(200);
  });
});
