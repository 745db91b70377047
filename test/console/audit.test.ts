/** The audit log as operators read it: bulks as one entry, by time in their zone, and as a file. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/console/operators/audit.ts';
import { testRedis } from '../support/redis.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, startApiStage } from './api-stage.ts';

const redis = testRedis();
let stage: ApiStage;
let bulk: string;
let ids: readonly string[];

beforeAll(async () => {
  stage = await startApiStage(redis);
  stage.runner();
  const apId = 'http://bulk.example';
  ids = await Promise.all([1, 2].map(() => stage.failed(208, stage.somebody(), apId)));
  await stage.indexer.idle();
  const order = { filter: { apId }, reason: 'The transport was down', perSecond: 500 };
  const { body } = await stage.ask('operator', 'POST', '/admin/api/replays', order);
  bulk = body.bulkId;
  await Promise.all(ids.map((id) => stage.answer(id, 2, 401)));
  await soon(async () => {
    const { state } = (await stage.ask('viewer', 'GET', `/admin/api/replays/${bulk}`)).body;
    expect(state).toBe('done');
  });
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const read = async (query = ''): Promise<readonly AuditEntry[]> =>
  (await stage.ask('operator', 'GET', `/admin/api/audit${query}`)).body.entries;
const ofBulks = (entries: readonly AuditEntry[]): readonly string[] =>
  entries.map(({ action }) => action).filter((action) => /replay|bulk/.test(action));
const page = async (query = ''): Promise<string> =>
  (await stage.ask('operator', 'GET', `/admin/audit${query}`)).text;

describe('a bulk in the audit log', () => {
  it('is one entry, with its items and its end behind it, for pages and programs', async () => {
    expect(ofBulks(await read())).toEqual(['bulk-replay']);
    const all = ['bulk-end', 'replay', 'replay', 'bulk-replay'];
    expect(ofBulks(await read(`?bulk=${bulk}`))).toEqual(all);
    expect(ofBulks(await read('?items=true'))).toEqual(all);
    const log = await page();
    expect(log).toContain(`href="/admin/audit?bulk=${bulk}">Each of its items</a>`);
    for (const id of ids) expect(log).not.toContain(id);
    const behind = await page(`?bulk=${bulk}`);
    for (const id of ids) expect(behind).toContain(`href="/admin/transactions/${id}"`);
    expect(behind).toContain(`<input type="hidden" name="bulk" value="${bulk}">`);
    expect(await page('?items=true')).toContain('Show a bulk as one');
  });

  it('does not hide what was done with one transaction from who asks about it', async () => {
    for (const id of ids) expect(ofBulks(await read(`?target=${id}`))).toEqual(['replay']);
  });

  it('of a part, whose items name the entry of their order, is one entry as well', async () => {
    const entry = { who: 'olga', via: 'oidc', action: 'callback-replay' } as const;
    const order = await stage.audit.record({ ...entry, details: { count: 2, perSecond: 20 } });
    for (const target of ids)
      await stage.audit.record({ ...entry, target, details: { order, callback: 'c' } });
    expect((await read('?action=callback-replay')).map(({ id }) => id)).toEqual([order]);
    expect(await read(`?bulk=${order}`)).toHaveLength(3);
    expect(await page('?action=callback-replay')).toContain(`href="/admin/audit?bulk=${order}"`);
  });

  it('is refused where its id cannot be one', async () => {
    const { status, body } = await stage.ask('operator', 'GET', '/admin/api/audit?bulk=a%20b');
    expect([status, body.message]).toEqual([400, expect.stringContaining('bulk')]);
  });
});

describe('the times of the audit log', () => {
  it('are read in the zone that the page shows, which it says', async () => {
    await stage.post('operator', '/admin/view', { times: 'Asia/Tehran' });
    const [newest] = await read();
    const at = newest?.at ?? 0;
    const wall = (ms: number): string => new Date(ms + 3.5 * 3_600_000).toISOString().slice(0, 23);
    const zone = 'zone=Asia%2FTehran';
    const after = await page(`?from=${wall(at + 1)}&${zone}`);
    expect(after).toContain('From (Asia/Tehran)');
    expect(after).toContain('<input type="hidden" name="zone" value="Asia/Tehran">');
    expect(after).toContain(`value="${wall(at + 1)}"`);
    expect(after).toContain('No entry fits this filter.');
    expect(await page(`?from=${wall(at)}&to=${wall(at + 1)}&${zone}`)).toContain(
      `data-id="${newest?.id}"`,
    );
    await stage.post('operator', '/admin/view', { times: 'UTC' });
  });

  it('and other fields that cannot be read are marked, and nothing is searched', async () => {
    const answer = await stage.ask('operator', 'GET', '/admin/audit?from=yesterday&action=none');
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('id="e-from"');
    expect(answer.text).toContain('id="e-action"');
    expect(answer.text).not.toContain('<table');
  });
});

describe('an export of the audit log', () => {
  it('has what the filter finds, as CSV and as JSON, and is in the log', async () => {
    const csv = await stage.ask('operator', 'GET', `/admin/audit/export?format=csv&bulk=${bulk}`);
    const [head, ...lines] = csv.text.trimEnd().split('\r\n');
    expect(head).toBe('"id","time","who","via","action","target","reason","details"');
    expect(lines).toHaveLength(4);
    expect(lines[3]).toContain('"bulk-replay"');
    expect(lines[3]).toContain('"The transport was down","{""count"":2,');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    const [entry] = await read('?action=export');
    expect(entry).toMatchObject({
      who: 'the-operator',
      details: { list: 'audit', format: 'csv', fields: 'bulk' },
    });
    const json = await stage.ask('operator', 'GET', `/admin/audit/export?format=json&bulk=${bulk}`);
    expect(json.body).toEqual({ rows: await read(`?bulk=${bulk}`), truncated: false });
  });

  it('is for operators, and needs a filter and a format that can be read', async () => {
    const of = async (who: 'viewer' | 'operator', query: string): Promise<number> =>
      (await stage.ask(who, 'GET', `/admin/audit/export?${query}`)).status;
    expect(await of('viewer', 'format=csv')).toBe(403);
    expect(await of('operator', 'format=xml')).toBe(422);
    expect(await of('operator', 'format=csv&from=yesterday')).toBe(422);
  });
});
