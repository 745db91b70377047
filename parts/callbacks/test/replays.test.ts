/**
 * Dead callbacks as people see and replay them: over the API, on the pages, on the board and on the
 * command line.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { me } from '../../../test/cli/operations-stage.ts';
import { run } from '../../../test/cli/terminal.ts';
import { logInAs, operator as olga, startStage } from '../../../test/console/operators/stage.ts';
import type { Json } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { soon } from '../../../test/support/soon.ts';
import { createCallbacks } from '../callbacks.ts';
import { callbacksOf as queueIn } from '../queue.ts';
import { createCallbackReplays } from '../replays.ts';
import {
  type CallbackStage,
  providerOf,
  type Receiver,
  startCallbackStage,
  startReceiver,
} from './stage.ts';

const redis = testRedis();
const client = redis.client();
const shop = 'http://shop.example';
const bank = 'http://bank.example';
const urlOf = (of: string): string => `${receiver.url}/hook?key=secret-of-${of}`;

let receiver: Receiver;
let stage: CallbackStage;
let side: { close(): Promise<void> };
let folder: string;
let audit: ReturnType<typeof startStage>['audit'];
const cookies = { viewer: '', operator: '' };
let csrf: string;

beforeAll(async () => {
  receiver = await startReceiver();
  const applicationProviders = [shop, bank].map((id) => ({ id, callback: { url: urlOf(id) } }));
  stage = await startCallbackStage(redis, { shards: 2, configuration: { applicationProviders } });
  folder = mkdtempSync(join(tmpdir(), 'paraph-callbacks-'));
  const configuration = {
    sandbox: true,
    queue: { shards: 2, prefix: stage.prefix },
    applicationProviders,
  };
  writeFileSync(join(folder, 'configuration.json'), JSON.stringify(configuration));
  const { operators, audit: log } = startStage(client, stage.prefix, {}, stage.serviceKey);
  audit = log;
  for (const role of ['viewer', 'operator'] as const) {
    await operators.users.add({ name: 'test', role: 'admin', via: 'cli' }, { name: role, role });
    const login = await logInAs(operators, role);
    cookies[role] = `paraph_admin=${login.cookie}`;
    if (role === 'operator') csrf = operators.csrfTokenOf(login.session);
  }
});
afterAll(async () => {
  await stage.close();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
  expect(stage.errors).toEqual([]);
});
beforeEach(async () => {
  receiver.answers((response) => void response.writeHead(500).end());
  side = await stage.start([providerOf(shop, urlOf(shop)), providerOf(bank, urlOf(bank))], {
    tries: 2,
  });
});
afterEach(() => side.close());

const ask = async (
  who: keyof typeof cookies,
  method: string,
  path: string,
  body?: object | URLSearchParams,
) => {
  const isForm = body instanceof URLSearchParams;
  const response = await stage.product.api.fetch(
    new Request(`http://test/admin${path}`, {
      method,
      headers: {
        cookie: cookies[who],
        'sec-fetch-site': 'same-origin',
        ...(method !== 'GET' && { 'x-csrf-token': csrf }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  const parsed: Json = isJson ? JSON.parse(text) : undefined;
  return { status: response.status, text, body: parsed, to: response.headers.get('location') };
};
const paraph = (...args: readonly string[]) =>
  run(args, {
    env: {
      REDIS_URL: redis.url,
      PARAPH_CONFIG: join(folder, 'configuration.json'),
      PARAPH_MASTER_KEY: Buffer.from(stage.serviceKey).toString('base64url'),
      PARAPH_DATA: folder,
    },
  });
const callbacksOf = async (id: string): Promise<readonly Json[]> =>
  (await ask('viewer', 'GET', `/api/transactions/${id}/callbacks`)).body.callbacks;
const died = async (apId: string): Promise<string> => {
  const id = await stage.submit({ apId });
  await soon(async () => expect(await callbacksOf(id)).toMatchObject([{ state: 'dead' }]));
  return id;
};
const delivered = (id: string) =>
  soon(async () => expect(await callbacksOf(id)).toMatchObject([{ state: 'delivered' }]));
const audited = async (target: string) =>
  (await audit.read({ target, action: 'callback-replay' }))?.entries.map(
    ({ who, via, details }) => ({
      who,
      via,
      ...details,
    }),
  );
const deadIds = async (query: string): Promise<readonly string[]> =>
  (await ask('viewer', 'GET', `/api/callbacks${query}`)).body.rows.map(
    ({ id }: { id: string }) => id,
  );

describe('a callback that fails and is tried again', () => {
  it('is in a list with its problem and next try, and counted, long before its last try', async () => {
    await side.close();
    const patient = { tries: 10, backoff: { firstMs: 600_000, factor: 3, maxMs: 3_600_000 } };
    side = await stage.start(
      [providerOf(shop, urlOf(shop)), providerOf(bank, urlOf(bank))],
      patient,
    );
    const ids = [await stage.submit({ apId: shop }), await stage.submit({ apId: bank })];
    for (const id of ids) {
      await soon(async () =>
        expect(await callbacksOf(id)).toMatchObject([{ state: 'waiting', tries: 1 }]),
      );
    }
    const retried = async (query = ''): Promise<Json> =>
      (await ask('viewer', 'GET', `/api/callbacks?state=retried${query}`)).body;
    const { rows } = await soon(async () => {
      const found = await retried();
      expect(found.rows).toHaveLength(2);
      return found;
    });
    expect(rows.map(({ msspTransId }: Json) => msspTransId).toSorted()).toEqual(ids.toSorted());
    expect(rows[0]).toMatchObject({ state: 'waiting', tries: 1, problem: 'HTTP 500' });
    expect(rows[0].nextTryAt).toBeGreaterThan(Date.now());
    // Who has waited longest for the next try comes first.
    expect(rows[0].nextTryAt).toBeGreaterThanOrEqual(rows[1].nextTryAt);
    const first = await retried('&limit=1');
    const second = await retried(`&limit=1&cursor=${encodeURIComponent(first.cursor)}`);
    expect([...first.rows, ...second.rows]).toEqual(rows);
    expect((await retried(`&apId=${encodeURIComponent(shop)}`)).rows).toMatchObject([
      { apId: shop },
    ]);
    expect(await deadIds('?state=dead')).toEqual([]);
    const wrong = await ask('viewer', 'GET', '/api/callbacks?state=retried&to=1');
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('to ')]);

    const { text } = await ask('viewer', 'GET', '/callbacks?state=retried');
    for (const id of ids) expect(text).toContain(`href="/admin/transactions/${id}"`);
    expect(text).toContain('HTTP 500');
    expect((await ask('viewer', 'GET', '/api/overview')).body.callbacks).toEqual({
      retried: 2,
      dead: 0,
    });
    const needs = { kind: 'callbacks-failing', count: 2, page: '/admin/callbacks?state=retried' };
    expect((await ask('viewer', 'GET', '/api/overview')).body.needs).toMatchObject([needs]);
    const overview = (await ask('viewer', 'GET', '')).text;
    expect(overview).toContain('2 callbacks have failed and will be tried again</a>');
    expect(overview).toContain('href="/admin/callbacks?state=retried">2<');
    const listed = (await paraph('callbacks', 'ls', '--retried', '--json')).json();
    expect(listed.callbacks).toMatchObject([{ tries: 1 }, { tries: 1 }]);

    for (const { id } of rows)
      for (const shard of stage.shards) await queueIn(shard).queue.remove(id);
  });
});

describe('callbacks that wait for their next try', () => {
  const isWaiting = (id: string) =>
    soon(async () => expect(await callbacksOf(id)).toMatchObject([{ state: 'waiting', tries: 1 }]));
  beforeEach(async () => {
    await side.close();
    const patient = { tries: 2, backoff: { firstMs: 600_000, factor: 3, maxMs: 3_600_000 } };
    side = await stage.start(
      [providerOf(shop, urlOf(shop)), providerOf(bank, urlOf(bank))],
      patient,
    );
  });
  const take = (status: number): void =>
    receiver.answers((response) => void response.writeHead(status).end());

  it('are counted by receiver, with what its answer usually means', async () => {
    take(401);
    const ids = [await stage.submit({ apId: shop }), await stage.submit({ apId: shop })];
    for (const id of ids) await isWaiting(id);
    const { host } = new URL(receiver.url);
    const { body } = await ask('viewer', 'GET', '/api/callbacks/receivers');
    expect(body).toEqual({
      isWhole: true,
      retried: 2,
      dead: 0,
      receivers: [
        {
          ...{ apId: shop, host, retried: 2, dead: 0, problems: { 'HTTP 401': 2 } },
          advice: expect.stringContaining(`paraph aps secret ${shop}`),
          oldestAt: expect.any(Number),
          triedAt: expect.any(Number),
          nextTryAt: expect.any(Number),
        },
      ],
    });
    for (const query of ['', '?state=retried']) {
      const { text } = await ask('viewer', 'GET', `/callbacks${query}`);
      expect(text).toContain(`paraph aps secret ${shop}`);
      expect(text).toMatch(/>2<\/td><td[^>]*>0<\/td><td[^>]*>HTTP 401/);
    }
    const listed = await paraph('callbacks', 'ls');
    expect(listed.stdout).toContain('0 dead; 2 are tried again: --retried\n');
    expect(listed.stdout).toMatch(new RegExp(`${shop} +${host} +2 +0 +HTTP 401`));
    const retried = await paraph('callbacks', 'ls', '--retried');
    const [row] = (await ask('viewer', 'GET', '/api/callbacks?state=retried')).body.rows;
    const columns = retried.stdout.split('\n').find((line) => line.startsWith('EVENT AT'));
    expect(columns).toMatch(/EVENT AT +LAST TRY +NEXT TRY +STATE +TRIES .* HOST +ABOUT/);
    expect(retried.stdout).toMatch(new RegExp(`tried again +1 +HTTP 401 .*${row.apTransId}`));
    const page = (await ask('viewer', 'GET', '/callbacks?state=retried')).text;
    expect(page).toContain(row.apTransId);
    const refused = await paraph('callbacks', 'replay', row.id);
    expect(refused.stderr).toContain('It waits for its next try');
    for (const { id } of (await ask('viewer', 'GET', '/api/callbacks?state=retried')).body.rows)
      for (const shard of stage.shards) await queueIn(shard).queue.remove(id);
  });

  it('are tried at once by an order, of one and of all, from the first try', async () => {
    const ids = [
      await stage.submit({ apId: shop }),
      await stage.submit({ apId: shop }),
      await stage.submit({ apId: bank }),
    ] as const;
    for (const id of ids) await isWaiting(id);
    const [one] = ids;
    const name = `${one}-1-signed`;
    expect((await ask('viewer', 'POST', `/api/callbacks/${name}/try`)).status).toBe(403);
    const unknown = await ask('operator', 'POST', `/api/callbacks/${one}-7-signed/try`);
    expect(unknown.status).toBe(404);
    const list = (await ask('operator', 'GET', '/callbacks?state=retried')).text;
    expect(list).toContain(`action="/admin/callbacks/${name}/try"`);
    expect((await ask('viewer', 'GET', '/callbacks?state=retried')).text).not.toContain('/try"');
    // The receiver still fails: its two tries are before it, and not the last one.
    const tried = await ask('operator', 'POST', `/api/callbacks/${name}/try`, { reason: 'Now' });
    expect([tried.status, tried.body]).toEqual([200, { result: 'tried' }]);
    await soon(() => expect(receiver.of(one)).toHaveLength(2));
    await isWaiting(one);
    take(204);
    const form = new URLSearchParams({ csrf, list: shop });
    const pressed = await ask('operator', 'POST', `/callbacks/${name}/try`, form);
    expect(pressed.to).toBe(
      `/admin/callbacks?state=retried&apId=${encodeURIComponent(shop)}&notice=callback-tried`,
    );
    await delivered(one);
    const again = await ask('operator', 'POST', `/api/callbacks/${name}/try`);
    expect([again.status, again.body]).toEqual([
      409,
      { error: 'not-waiting', message: 'It has been delivered' },
    ]);
    const replay = await ask('operator', 'POST', `/api/callbacks/${name}/replay`);
    expect(replay.body.message).toBe('It has been delivered');
    expect((await audit.read({ target: one, action: 'callback-try' }))?.entries).toMatchObject([
      { who: 'operator', details: { callback: name } },
      { who: 'operator', reason: 'Now' },
    ]);

    const filter = { apId: shop };
    const plan = await ask('operator', 'POST', '/api/callbacks/plan', { kind: 'try', filter });
    expect(plan.body).toEqual({ found: 1, byAp: { [shop]: 1 }, truncated: false });
    const asked = await ask('operator', 'GET', '/callbacks/plan?kind=try');
    expect(asked.text).toContain('Try 2 callbacks now');
    const order = { kind: 'try', apId: shop, perSecond: '1000', reason: '', csrf };
    const done = await ask('operator', 'POST', '/callbacks/try', new URLSearchParams(order));
    expect(done.text).toContain('1 callback is tried now');
    await delivered(ids[1]);
    const dry = await paraph('callbacks', 'try', '--all', '--dry-run');
    expect(dry.stdout).toMatch(/tried again +1\n +by AP +http:\/\/bank\.example: 1$/m);
    const args = ['--all', '--rate', '1000', '--yes', '--json'];
    expect((await paraph('callbacks', 'try', ...args)).json()).toMatchObject({
      ...{ found: 1, tried: 1, left: 0, truncated: false },
    });
    await delivered(ids[2]);
    const none = await ask('operator', 'POST', '/api/callbacks/try', { filter: {} });
    expect([none.status, none.body.message]).toEqual([409, 'No callback like that waits']);
  });

  it('are tried later where an order of many spreads them', async () => {
    const id = await stage.submit({ apId: shop });
    await isWaiting(id);
    const callbacks = createCallbacks({ redis: client, shards: stage.shards, now: Date.now });
    const notBefore = Date.now() + 3_600_000;
    expect(await callbacks.tryNow(`${id}-1-signed`, notBefore)).toBe('tried');
    await soon(async () => {
      const [row] = await callbacksOf(id);
      expect(row).toMatchObject({ state: 'waiting', tries: 0 });
      expect(row?.nextTryAt).toBeGreaterThanOrEqual(notBefore - 1000);
    });
    expect(receiver.of(id)).toHaveLength(1);
    for (const shard of stage.shards) await queueIn(shard).queue.remove(`${id}-1-signed`);
  });
});

describe('a callback that was given up', () => {
  it('is seen in the API, on the pages and on the command line, and is delivered once when it is replayed', async () => {
    const id = await died(shop);
    const webhookId = `${id}-1-signed`;
    const shown = {
      id: webhookId,
      apId: shop,
      event: 'signed',
      attempt: 1,
      state: 'dead',
      tries: 2,
    };

    const { host } = new URL(receiver.url);
    expect(await callbacksOf(id)).toEqual([
      expect.objectContaining({ ...shown, problem: 'HTTP 500', host, triedAt: expect.any(Number) }),
    ]);
    const looks = await Promise.all([
      ask('viewer', 'GET', '/api/callbacks?state=dead'),
      ask('viewer', 'GET', '/api/aps'),
      ask('viewer', 'GET', '/callbacks'),
      ask('operator', 'GET', '/callbacks'),
      ask('viewer', 'GET', `/transactions/${id}`),
      ask('operator', 'GET', `/transactions/${id}`),
    ]);
    for (const { text } of looks) {
      expect(text).toContain(host);
      expect(text).not.toMatch(/secret-of|hook/);
    }
    for (const { text } of looks.slice(2)) expect(text).toContain('HTTP 500');
    const button = `action="/admin/callbacks/${webhookId}/replay"`;
    expect(looks.map(({ text }) => text.includes(button))).toEqual([
      false,
      false,
      false,
      true,
      false,
      true,
    ]);

    const listed = await paraph('callbacks', 'ls', '--ap', shop, '--json');
    expect(listed.json().callbacks).toMatchObject([{ ...shown, problem: 'HTTP 500' }]);
    expect((await paraph('show', id, '--json')).json().callbacks).toMatchObject([shown]);
    expect((await paraph('show', id)).stdout).toMatch(
      new RegExp(`dead +2 +HTTP 500 +${webhookId}$`, 'm'),
    );

    receiver.answers((response) => void response.writeHead(204).end());
    expect((await ask('viewer', 'POST', `/api/callbacks/${webhookId}/replay`)).status).toBe(403);
    expect((await ask('operator', 'POST', `/api/callbacks/${id}-7-signed/replay`)).status).toBe(
      404,
    );
    const form = new URLSearchParams({ csrf });
    const pressed = await ask('operator', 'POST', `/callbacks/${webhookId}/replay`, form);
    expect([pressed.status, pressed.to]).toEqual([
      303,
      `/admin/transactions/${id}?notice=callback-replayed#callbacks`,
    ]);
    await delivered(id);
    expect(receiver.of(id).map(({ headers }) => headers['webhook-id'])).toEqual(
      Array(3).fill(webhookId),
    );
    const { text: page } = await ask('operator', 'GET', `/transactions/${id}`);
    expect(page).toContain('<strong>Callback sent again</strong> by operator');
    expect(await audited(id)).toEqual([{ who: 'operator', via: 'link', callback: webhookId }]);
    expect((await ask('operator', 'POST', `/api/callbacks/${webhookId}/replay`)).body.error).toBe(
      'not-dead',
    );
    const again = await ask('operator', 'POST', `/callbacks/${webhookId}/replay`, form);
    expect(again.to).toContain('notice=callback-delivered');
    expect((await paraph('callbacks', 'replay', webhookId, '--json')).json().refused).toBe(
      'not-dead',
    );
    expect(await deadIds('')).toEqual([]);
    expect(await audited(id)).toHaveLength(1);
  });

  it('waits for its time when it has one', async () => {
    const id = await died(shop);
    const callbacks = createCallbacks({ redis: client, shards: stage.shards, now: Date.now });
    const notBefore = Date.now() + 3_600_000;
    expect(await callbacks.replay(`${id}-1-signed`, notBefore)).toBe('replayed');
    await soon(async () =>
      expect((await callbacksOf(id))[0].nextTryAt).toBeGreaterThanOrEqual(notBefore),
    );
    expect(receiver.of(id)).toHaveLength(2);
    const [job] = await queueIn(stage.shardOfId(id)).queue.getDelayed();
    await job?.remove();
  });
});

describe('a callback of a process that was given up', () => {
  it('is in the list with its process, and is delivered under the same id when it is replayed', async () => {
    receiver.answers((response) => void response.writeHead(410).end());
    const signers = [{ name: 'Anna Muster', msisdn: '+41700092501', text: 'I agree' }];
    const deadline = 'P1D';
    const start = (process: string) => {
      const input = { deadline, steps: [{ name: 'Board', ask: 'page', signers }] };
      return stage.product.workflows.start(shop, 'process', input, process);
    };
    for (const name of ['contract-1', 'contract-2'])
      expect((await start(name)).kind).toBe('started');
    const rows = async (): Promise<readonly Json[]> =>
      (await ask('viewer', 'GET', `/api/callbacks?apId=${encodeURIComponent(shop)}`)).body.rows;
    await soon(async () => expect(await rows()).toHaveLength(2));
    const row = (await rows()).find(({ process }) => process === 'contract-1');
    const { id, instanceId } = row;
    expect(row).toEqual({
      id,
      instanceId,
      apId: shop,
      process: 'contract-1',
      event: 'process.invited',
      step: 'Board',
      key: '1',
      state: 'dead',
      tries: 1,
      problem: 'HTTP 410',
      host: new URL(receiver.url).host,
      endedAt: expect.any(Number),
      triedAt: expect.any(Number),
    });
    const page = await ask('operator', 'GET', '/callbacks');
    expect(page.text).toContain(`href="/admin/workflows/${instanceId}"`);
    expect(page.text).toContain('process.invited, Board, 1');
    expect(page.text).not.toMatch(/Muster|secret-of/);
    expect((await ask('operator', 'GET', `/workflows/${instanceId}`)).status).toBe(200);
    expect((await paraph('callbacks', 'ls')).stdout).toContain('contract-1 process.invited');

    receiver.answers((response) => void response.writeHead(204).end());
    const pressed = await ask(
      'operator',
      'POST',
      `/callbacks/${id}/replay`,
      new URLSearchParams({ csrf }),
    );
    expect([pressed.status, pressed.to]).toEqual([
      303,
      '/admin/callbacks?notice=callback-replayed',
    ]);
    await soon(async () => expect(await rows()).toHaveLength(1));
    expect(await audited(instanceId)).toEqual([{ who: 'operator', via: 'link', callback: id }]);
    const order = { filter: { apId: shop }, perSecond: 1000 };
    expect((await ask('operator', 'POST', '/api/callbacks/replay', order)).body).toMatchObject({
      replayed: 1,
    });
    const messages = () => receiver.received.filter(({ headers }) => headers['webhook-id'] === id);
    await soon(() => expect(messages()).toHaveLength(2));
    await soon(() => {
      const told = receiver.received.slice(-2).map(({ body }) => JSON.parse(body).data.process);
      expect(told.toSorted()).toEqual(['contract-1', 'contract-2']);
    });
    expect(await deadIds('')).toEqual([]);
  });
});

describe('many callbacks', () => {
  it('are listed newest first over all shards, by application and page by page, and replayed together', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 4; number += 1) ids.unshift(await died(shop));
    const other = await died(bank);
    const names = ids.map((id) => `${id}-1-signed`);
    expect(await deadIds('')).toEqual([`${other}-1-signed`, ...names]);
    const query = `?apId=${encodeURIComponent(shop)}`;
    const first = await ask('viewer', 'GET', `/api/callbacks${query}&limit=3`);
    expect(first.body.rows.map(({ id }: { id: string }) => id)).toEqual(names.slice(0, 3));
    expect(
      await deadIds(`${query}&limit=3&cursor=${encodeURIComponent(first.body.cursor)}`),
    ).toEqual(names.slice(3));
    expect(await deadIds(`?to=${first.body.rows[2].triedAt}`)).toEqual(names.slice(3));

    const planned = await ask('operator', 'GET', `/callbacks/plan${query}`);
    expect(planned.text).toContain('Replay 4 callbacks');
    const plan = await ask('operator', 'POST', '/api/callbacks/plan', { filter: {} });
    expect(plan.body).toEqual({ found: 5, byAp: { [shop]: 4, [bank]: 1 }, truncated: false });
    const dryRun = await paraph('callbacks', 'replay', '--all', '--dry-run');
    expect(dryRun.stdout).toMatch(
      /^ *dead +5\n +by AP +http:\/\/bank\.example: 1\n +http:\/\/shop\.example: 4$/m,
    );
    const silent = await paraph('callbacks', 'replay', '--ap', shop);
    expect([silent.exitCode, silent.stderr]).toEqual([2, expect.stringContaining('--yes')]);

    receiver.answers((response) => void response.writeHead(204).end());
    const few = createCallbackReplays({
      callbacks: createCallbacks({ redis: client, shards: stage.shards, now: Date.now }),
      audit,
      now: Date.now,
      max: 1,
    });
    expect(await few.orderAll('replay', { apId: shop }, { perSecond: 20, operator: olga })).toEqual(
      {
        found: 1,
        replayed: 1,
        left: 0,
        truncated: true,
      },
    );
    await delivered(ids[0] ?? '');

    const reason = 'the shop is back';
    const args = ['--ap', shop, '--rate', '1000', '--reason', reason, '--yes', '--json'];
    const replayed = (await paraph('callbacks', 'replay', ...args)).json();
    expect(replayed).toEqual({ outcome: 'ok', found: 3, replayed: 3, left: 0, truncated: false });
    for (const id of ids) {
      await delivered(id);
      expect(receiver.of(id)).toHaveLength(3);
    }
    const orders = (await audit.read({ who: me, action: 'callback-replay' }))?.entries ?? [];
    const order = orders.find(({ target }) => target === undefined);
    expect(order).toMatchObject({
      via: 'cli',
      reason,
      details: { count: 3, perSecond: 1000, ap: shop },
    });
    for (const id of ids.slice(1)) {
      expect(await audited(id)).toEqual([
        { who: me, via: 'cli', order: order?.id, callback: `${id}-1-signed` },
      ]);
    }
    expect(await deadIds('')).toEqual([`${other}-1-signed`]);

    const fields = { csrf, apId: bank, perSecond: 'secret-1', reason: '' };
    const wrong = await ask('operator', 'POST', '/callbacks/replay', new URLSearchParams(fields));
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringContaining('The rate cannot be read'),
    ]);
    const right = new URLSearchParams({ ...fields, perSecond: '5' });
    expect((await ask('operator', 'POST', '/callbacks/replay', right)).text).toContain(
      '1 callback replayed',
    );
    await delivered(other);
    const none = await ask('operator', 'POST', '/api/callbacks/replay', { filter: {} });
    expect([none.status, none.body.error]).toEqual([409, 'nothing']);
  });

  it('are spread over time by the rate, the oldest first', async () => {
    const ids = [await died(shop), await died(shop), await died(shop)];
    await side.close();
    const order = { filter: { apId: shop }, perSecond: 4 };
    expect((await ask('operator', 'POST', '/api/callbacks/replay', order)).body.replayed).toBe(3);
    const times = await Promise.all(
      ids.map(async (id) => {
        const job = await queueIn(stage.shardOfId(id)).queue.getJob(`${id}-1-signed`);
        return job?.data.notBefore;
      }),
    );
    expect(times).toEqual([times[0], times[0] + 250, times[0] + 500]);
  });

  it.each([
    ['GET', '?state=delivered', undefined, 'state'],
    ['GET', '?cursor=!!', undefined, 'cursor'],
    ['POST', '/replay', { filter: {}, perSecond: 0.5 }, 'perSecond'],
    ['POST', '/replay', { perSecond: 5 }, 'filter'],
  ] as const)(
    '%s %s %j is refused with the name of the field',
    async (method, path, body, field) => {
      const answered = await ask('operator', method, `/api/callbacks${path}`, body);
      expect(answered.status).toBe(400);
      expect(answered.body.message).toMatch(new RegExp(`^${field}[ :]`));
    },
  );
});
