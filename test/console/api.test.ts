/**
 * The admin API over HTTP: who may what, what each role sees, and that a bulk ordered here prompts
 * nobody twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureJobName } from '../../src/transactions/contract.ts';
import { readProcesses } from '../../src/transactions/history/processes.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { shardFor } from '../../src/transactions/shards.ts';
import { type Json, startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, roles, type Somebody, startApiStage } from './api-stage.ts';
import { logInAs } from './operators/stage.ts';

const redis = testRedis();
let stage: ApiStage;

beforeAll(async () => {
  stage = await startApiStage(redis);
  stage.runner();
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

/** One that a test number has signed, with its text. */
const signed = async (text: string): Promise<string> => {
  const { body } = await stage.product.post('/rest/service/sign', signRequest({ text }));
  return body.MSS_SignatureResp.MSSP_TransID;
};

const seenBy = async (who: Somebody, path: string) =>
  (await stage.ask(who, 'GET', `/admin/api${path}`)).text;

describe('who may what', () => {
  const all = { viewer: true, operator: true, admin: true };
  const operators = { viewer: false, operator: true, admin: true };
  const admins = { viewer: false, operator: false, admin: true };
  it.each([
    ['GET', '/session', all],
    ['GET', '/transactions', all],
    ['GET', '/transactions/none', all],
    ['GET', '/transactions/none/events', all],
    ['POST', '/transactions/none/replay', operators],
    ['POST', '/transactions/none/cancel', operators],
    ['POST', '/replays/plan', operators],
    ['POST', '/replays', operators],
    ['GET', '/replays', all],
    ['GET', '/replays/none', all],
    ['GET', '/replays/none/progress', all],
    ['POST', '/replays/none/stop', operators],
    ['GET', '/transactions/none/callbacks', all],
    ['GET', '/callbacks', all],
    ['POST', '/callbacks/none/replay', operators],
    ['POST', '/callbacks/plan', operators],
    ['POST', '/callbacks/replay', operators],
    ['GET', '/overview', all],
    ['GET', '/queues', all],
    ['GET', '/aps', all],
    ['GET', '/audit', operators],
    ['GET', '/users', admins],
    ['POST', '/users', admins],
    ['DELETE', '/users/none', admins],
    ['PUT', '/users/none/role', admins],
    ['POST', '/users/none/tokens', admins],
    ['PUT', '/users/none/phone', admins],
    ['DELETE', '/users/none/phone', admins],
    ['POST', '/subject', admins],
    ['DELETE', '/links', admins],
    ['POST', '/callback-secret', admins],
    ['GET', '/clients/none', admins],
    ['POST', '/clients/none', admins],
    ['GET', '/keys', admins],
    ['POST', '/keys/rotate', admins],
    ['POST', '/index/rebuild', admins],
    ['GET', '/tokens', all],
    ['DELETE', '/tokens/none', all],
  ] as const)(
    '%s %s is for the roles it is for, and for nobody without a session',
    async (method, path, may) => {
      for (const who of roles) {
        const { status } = await stage.ask(who, method, `/admin/api${path}`);
        if (may[who]) expect([200, 400, 404], who).toContain(status);
        else expect(status, who).toBe(403);
      }
      const nobody = await stage.ask('nobody', method, `/admin/api${path}`);
      expect(nobody.status).toBe(401);
      expect(nobody.body.error).toBe('unauthorized');
      if (method === 'GET') return;
      const forged = await stage.fetch(`/admin/api${path}`, {
        method,
        headers: { cookie: stage.cookies.admin },
      });
      expect(forged.status).toBe(403);
      expect(await forged.json()).toMatchObject({ error: 'csrf' });
    },
  );
});

describe('a list', () => {
  it('is newest first, filtered, and paged by its cursor', async () => {
    const apId = 'http://list.example';
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.unshift(await stage.failed(208, stage.somebody(), apId));
    await stage.indexer.idle();
    const query = `/admin/api/transactions?apId=${encodeURIComponent(apId)}&state=failed&fault=208,401&limit=2`;
    const first = await stage.ask('operator', 'GET', query);
    const second = await stage.ask('operator', 'GET', `${query}&cursor=${first.body.cursor}`);
    const found = [...first.body.rows, ...second.body.rows].map(({ msspTransId }) => msspTransId);
    expect(found).toEqual(ids);
    const later = await stage.ask('operator', 'GET', `${query}&from=2999-01-01T00:00:00Z`);
    expect(later.body.rows).toEqual([]);
  });

  it.each([
    ['state=secret-1', 'state'],
    ['fault=secret-1', 'fault'],
    ['from=secret-1', 'from'],
    ['limit=501', 'limit'],
    ['secret-1=1', 'The request'],
    ['cursor=!!', 'cursor'],
  ])('names the field of %s that is wrong, and not its value', async (query, field) => {
    const { status, text, body } = await stage.ask(
      'operator',
      'GET',
      `/admin/api/transactions?${query}`,
    );
    expect(status).toBe(400);
    expect(body.message).toMatch(new RegExp(`^${field}`));
    expect(text).not.toContain('secret-1');
  });

  it('names each field that is wrong, with what is expected there', async () => {
    const { body } = await stage.ask(
      'operator',
      'GET',
      '/admin/api/transactions?limit=501&from=secret-1',
    );
    expect(body.message.split('; ').toSorted()).toEqual([
      'from must be milliseconds since the epoch or an ISO 8601 date',
      'limit: Too big: expected number to be <=500',
    ]);
    const user = { name: '', role: 'secret-1', msisdn: 5, more: 1 };
    const { body: refused } = await stage.ask('admin', 'POST', '/admin/api/users', user);
    expect(refused.message.split('; ').toSorted()).toEqual([
      'The request has members that are not known here',
      'msisdn must have 1 to 40 characters',
      'name must have 1 to 64 characters',
      'role: Invalid option: expected one of "viewer"|"operator"|"admin"',
    ]);
  });

  it.each([
    [{ apId: 5 }, 'apId must have 1 to 256 characters'],
    [{ apId: '' }, 'apId must have 1 to 256 characters'],
    [{}, 'apId must have 1 to 256 characters'],
    [
      { apId: 'http://list.example', alert: 'rate' },
      'The request has members that are not known here',
    ],
  ])('names the field of %j whose callback secret is asked for', async (body, message) => {
    const answered = await stage.ask('admin', 'POST', '/admin/api/callback-secret', body);
    expect(answered).toMatchObject({ status: 400, body: { message } });
  });

  it('searches the audit log for actions that there are, those of parts among them', async () => {
    const ask = (action: string) =>
      stage.ask('operator', 'GET', `/admin/api/audit?action=${action}`);
    expect((await ask('callback-replay')).status).toBe(200);
    const { status, text, body } = await ask('secret-1');
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^action/)]);
    expect(text).not.toContain('secret-1');
  });

  it('does not let a viewer try out numbers', async () => {
    const { status } = await stage.ask(
      'viewer',
      'GET',
      '/admin/api/transactions?msisdn=%2B41700092501',
    );
    expect(status).toBe(403);
  });
});

describe('one transaction', () => {
  it('leads to its log lines, and to its trace when it was traced', async () => {
    const id = await stage.submit(stage.somebody());
    const queue = shardFor(stage.shards, id)?.signatures.queue;
    const job = await queue?.getJob(id);
    const traced = newMsspTransId(Number(id.slice(1, 3)));
    const traceId = 'ab'.repeat(16);
    const metadata = JSON.stringify({ traceparent: `00-${traceId}-${'cd'.repeat(8)}-01` });
    const options = { jobId: traced, priority: 1, telemetry: { metadata } };
    await queue?.add(signatureJobName, job?.data, options);
    const linksOf = async (of: string) =>
      (await stage.ask('viewer', 'GET', `/admin/api/transactions/${of}`)).body.links;
    expect(await linksOf(id)).toEqual({ log: `https://logs.example/?q=${id}` });
    expect(await linksOf(traced)).toEqual({
      log: `https://logs.example/?q=${traced}`,
      trace: `https://traces.example/${traceId}`,
    });
    const page = (await stage.ask('viewer', 'GET', `/admin/transactions/${traced}`)).text;
    expect(page).toContain(
      `<a href="https://traces.example/${traceId}" rel="noreferrer">Trace</a>`,
    );
    for (const each of [id, traced]) {
      const order = { reason: 'the test is over' };
      await stage.ask('operator', 'POST', `/admin/api/transactions/${each}/cancel`, order);
    }
  });

  it('shows an operator number, text and outcome, and a viewer none of them; nobody the signature', async () => {
    const id = await signed('Pay 77 to Alma?');
    const forViewer = await seenBy('viewer', `/transactions/${id}`);
    const forOperator = await seenBy('operator', `/transactions/${id}`);
    expect(JSON.parse(forOperator)).toMatchObject({
      transaction: { msisdn: '+41700092501', state: 'signed' },
      request: { msisdn: '+41700092501', data: { kind: 'text', text: 'Pay 77 to Alma?' } },
      outcome: { kind: 'signature', signatureBytes: expect.any(Number) },
    });
    expect(JSON.parse(forViewer)).toMatchObject({
      transaction: { msisdn: '…501', state: 'signed' },
    });
    expect(forViewer).not.toMatch(/41700092501|Alma/);
    for (const seen of [forViewer, forOperator])
      expect(seen).not.toMatch(/"cms"|MII[A-Za-z0-9+/]{20}/);
  });

  it('shows an end that is not believed as it is answered: an internal error', async () => {
    const id = await signed('Pay 78 to Alma?');
    const job = shardFor(stage.shards, id)?.signatures.queue.toKey(id) ?? '';
    const redis = stage.product.core.blocking;
    const record = JSON.parse((await redis.hget(job, 'returnvalue')) ?? '');
    const outcome = { kind: 'signature', cms: 'AAAA' };
    await redis.hset(job, 'returnvalue', JSON.stringify({ ...record, outcome }));
    const {
      transaction,
      outcome: shown,
      timeline,
    } = JSON.parse(await seenBy('operator', `/transactions/${id}`));
    expect(transaction).toMatchObject({ state: 'failed', fault: { code: 900 } });
    expect(shown).toBeUndefined();
    expect(timeline.findLast(({ kind }: Json) => kind === 'state')).toMatchObject({
      state: 'failed',
    });
  });

  it('shows nobody a one-time password', async () => {
    const profile = 'http://mid.vendor.ch/MID/v1/OtpProfileText';
    const { body } = await stage.product.post(
      '/rest/service/sign',
      signRequest({ profile, text: 'Code 83125' }),
    );
    const id = body.MSS_SignatureResp.MSSP_TransID;
    const seen = await stage.ask('admin', 'GET', `/admin/api/transactions/${id}`);
    expect(seen.body).toMatchObject({
      request: { msisdn: '+41700092501', data: { kind: 'text' } },
      outcome: { kind: 'delivered' },
    });
    expect(seen.text).not.toContain('83125');
  });

  it('notes once in a session that somebody looked at what is hidden from others', async () => {
    const id = await signed('A look');
    for (let n = 0; n < 3; n += 1) await seenBy('operator', `/transactions/${id}`);
    await seenBy('viewer', `/transactions/${id}`);
    const looks = await stage.audit.read({ target: id });
    expect(looks?.entries.map(({ who, action }) => [who, action])).toEqual([
      ['the-operator', 'view-sensitive'],
    ]);
  });

  it('has a timeline with who replayed and cancelled, and why', async () => {
    const id = await stage.failed(401);
    const replay = `/admin/api/transactions/${id}/replay`;
    expect((await stage.ask('operator', 'POST', replay, {})).status).toBe(422);
    expect(
      (await stage.ask('operator', 'POST', replay, { reason: 'She asked for it' })).status,
    ).toBe(200);
    await soon(async () => expect((await stage.history.find(id))?.state).toBe('pending'));
    expect((await stage.ask('operator', 'POST', replay, { reason: 'Again' })).status).toBe(409);
    const cancel = `/admin/api/transactions/${id}/cancel`;
    expect((await stage.ask('operator', 'POST', cancel, {})).status).toBe(400);
    expect((await stage.ask('operator', 'POST', cancel, { reason: 'A mistake' })).status).toBe(200);
    await soon(async () => expect((await stage.history.find(id))?.state).toBe('failed'));
    const { body } = await stage.ask('operator', 'GET', `/admin/api/transactions/${id}`);
    const told = body.timeline.map((entry: Record<string, unknown>) =>
      entry.kind === 'state'
        ? `${entry.state} ${entry.attempt}${entry.by ? ` by ${(entry.by as { who: string }).who}` : ''}`
        : `${entry.action} by ${entry.who}: ${entry.reason ?? ''}`,
    );
    for (const line of [
      'submitted 1',
      'failed 1',
      'replay by the-operator: She asked for it',
      'submitted 2 by the-operator',
      'pending 2',
      'cancel by the-operator: A mistake',
      'failed 2',
    ]) {
      expect(told).toContain(line);
    }
    expect(await seenBy('viewer', `/transactions/${id}`)).not.toMatch(/She asked|mistake/);
  });

  it('is not replayed when it is a login', async () => {
    const id = await stage.failedLogin(208);
    const refused = await stage.ask('admin', 'POST', `/admin/api/transactions/${id}/replay`, {});
    expect([refused.status, refused.body.error]).toEqual([409, 'login']);
    const plan = await stage.ask('admin', 'POST', '/admin/api/replays/plan', { ids: [id] });
    expect(plan.body).toMatchObject({ replayable: 0, refused: { login: 1 } });
    const order = { ids: [id], reason: 'Please', perSecond: 5 };
    expect((await stage.ask('admin', 'POST', '/admin/api/replays', order)).status).toBe(409);
    expect((await stage.history.find(id))?.attempt).toBe(1);
  });

  it('tells its progress as it happens', async () => {
    const id = await stage.submit(stage.somebody());
    const response = await stage.fetch(`/admin/api/transactions/${id}/events`, {
      headers: { cookie: stage.cookies.viewer },
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const hear = async (what: RegExp): Promise<void> => {
      while (!what.test(heard)) {
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error('ended');
        heard += value;
      }
    };
    await hear(/"state":"(?:submitted|pending)"/);
    await stage.answer(id, 1, 401);
    await hear(/"state":"failed","attempt":1.*"code":401/);
    expect(heard).not.toContain('4176');
    await reader?.cancel();
  });
});

describe('a bulk', () => {
  it('replays 20 failed of 60 by filter with no prompt twice, and reports each', async () => {
    const apId = 'http://bulk.example';
    const others = Array.from({ length: 40 }, () => stage.product.submit({ apId }));
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => stage.failed(208, stage.somebody(), apId)),
    );
    await Promise.all(others);
    await stage.indexer.idle();
    const filter = { apId, fault: [208] };
    const plan = await stage.ask('operator', 'POST', '/admin/api/replays/plan', { filter });
    expect(plan.body).toMatchObject({
      found: 20,
      replayable: 20,
      numbers: 20,
      byFault: { 208: 20 },
    });
    const { rows } = (
      await stage.ask('operator', 'GET', `/admin/api/transactions?apId=${apId}&fault=208`)
    ).body;
    expect(plan.body.first).toEqual(rows);
    const reason = 'The transport was down';
    const order = { filter, reason, perSecond: 500 };
    const started = await stage.ask('operator', 'POST', '/admin/api/replays', order);
    expect(started.status).toBe(202);
    const at = `/admin/api/replays/${started.body.bulkId}`;
    await Promise.all(ids.map((id) => stage.answer(id, 2, 401)));
    await soon(async () => {
      expect((await stage.ask('viewer', 'GET', `${at}/progress`)).body.state).toBe('done');
    });
    const report = (await stage.ask('operator', 'GET', at)).body;
    expect(report).toMatchObject({ reason, total: 20, failed: { 401: 20 } });
    expect(report.items.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
    const second = stage
      .asked()
      .filter((line) => ids.some((id) => line.startsWith(id)) && line.endsWith(' 2'));
    expect(second).toHaveLength(20);
    expect(new Set(second).size).toBe(20);
    expect(await seenBy('viewer', '/replays')).not.toContain(reason);
    expect((await stage.ask('operator', 'POST', `${at}/stop`)).status).toBe(409);
  });
});

describe('users', () => {
  it('are added, changed and removed by an admin, not by themselves', async () => {
    const added = await stage.ask('admin', 'POST', '/admin/api/users', {
      name: 'nina',
      role: 'viewer',
    });
    expect(added.status).toBe(201);
    expect(added.body).toEqual({ name: 'nina', role: 'viewer' });
    expect((await logInAs(stage.operators, 'nina')).session.operator.role).toBe('viewer');
    const list = await seenBy('admin', '/users');
    expect(list).toContain('nina');
    expect(list).not.toMatch(/password|version/);
    expect(
      (await stage.ask('admin', 'PUT', '/admin/api/users/nina/role', { role: 'operator' })).status,
    ).toBe(200);
    expect((await stage.ask('admin', 'DELETE', '/admin/api/users/nina')).status).toBe(200);
    expect((await stage.ask('admin', 'DELETE', '/admin/api/users/the-admin')).status).toBe(409);
    expect(
      (await stage.ask('admin', 'POST', '/admin/api/users', { name: 'Nina', role: 'viewer' }))
        .status,
    ).toBe(400);
  });

  it('have tokens for programs, which need no other proof and reach the API alone', async () => {
    const issued = await stage.ask('operator', 'POST', '/admin/api/users/the-operator/tokens', {
      label: 'CLI',
    });
    expect(issued.status).toBe(201);
    const headers = { authorization: `Bearer ${issued.body.token}` };
    expect((await stage.fetch('/admin/api/transactions', { headers })).status).toBe(200);
    const plan = await stage.fetch('/admin/api/replays/plan', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ filter: {} }),
    });
    expect(plan.status).toBe(200);
    expect((await stage.fetch('/admin/queues', { headers })).status).toBe(303);
    // One's own: nobody else's are to be seen, or ended, but by an admin.
    expect(await seenBy('operator', '/tokens')).toContain(issued.body.id);
    expect(await seenBy('viewer', '/tokens')).not.toContain(issued.body.id);
    expect(
      (await stage.ask('viewer', 'DELETE', `/admin/api/tokens/${issued.body.id}`)).status,
    ).toBe(404);
    await stage.ask('admin', 'DELETE', `/admin/api/tokens/${issued.body.id}`);
    const after = await stage.fetch('/admin/api/transactions', {
      headers: { ...headers, cookie: stage.cookies.admin },
    });
    expect(after.status).toBe(401);
  });
});

describe('the service', () => {
  it('tells which processes run, and no longer one that has stopped or is silent', async () => {
    const partsOf = async () => {
      const { body } = await stage.ask('viewer', 'GET', '/admin/api/processes');
      return body.processes.map(({ part }: { part: string }) => part);
    };
    await soon(async () => expect(await partsOf()).toEqual(['api', 'workers']));
    const { body } = await stage.ask('viewer', 'GET', '/admin/api/processes');
    const { workers } = stage.product.configuration;
    expect(body.processes[1]).toMatchObject({
      pid: process.pid,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      running: expect.any(Number),
      concurrency: workers.concurrency * stage.shards.length,
    });
    const { text } = await stage.ask('viewer', 'GET', '/admin');
    expect(text).toContain(`process ${process.pid}`);
    expect(text).not.toContain('No workers run');
    const { serviceKey: masterKey } = stage.product.core;
    const other = await startTestProduct(redis, {
      masterKey,
      configuration: { queue: { shards: 2 } },
    });
    await soon(async () => expect(await partsOf()).toEqual(['api', 'api', 'workers', 'workers']));
    await other.stop();
    expect(await partsOf()).toEqual(['api', 'workers']);
    const { commands } = stage.product.core;
    expect(await readProcesses(commands, stage.prefix, Date.now() + 60_000)).toEqual([]);
  });

  it('shows how it does: overview, queues, application providers without what they prove themselves with', async () => {
    expect(JSON.parse(await seenBy('viewer', '/overview?hours=24'))).toHaveProperty('series');
    expect(JSON.parse(await seenBy('viewer', '/queues')).queues[0]).toMatchObject({
      shard: 0,
      name: 'signatures',
      delayed: expect.any(Number),
    });
    expect(JSON.parse(await seenBy('viewer', '/aps')).aps[0].id).toBe('http://bank.example');
  });

  it('answers a body that is too large, and an address that there is not, in JSON', async () => {
    const large = await stage.ask('admin', 'POST', '/admin/api/users', {
      name: 'x'.repeat(1_100_000),
    });
    expect([large.status, large.body.error]).toEqual([413, 'too-large']);
    const none = await stage.ask('admin', 'GET', '/admin/api/nothing');
    expect([none.status, none.body.error]).toEqual([404, 'unknown']);
  });
});

describe('a stop', () => {
  it('ends the streams that are open, and opens no more', async () => {
    const headers = { cookie: stage.cookies.admin };
    for (let head = 0; head < 20; head += 1) {
      expect((await stage.fetch('/admin/api/events', { method: 'HEAD', headers })).status).toBe(
        200,
      );
    }
    const open = await stage.fetch('/admin/api/events', { headers });
    stage.console.endWaiting();
    expect(await open.text()).toBe('retry: 2000\n\n');
    expect((await stage.fetch('/admin/api/events', { headers })).status).toBe(503);
  });
});
