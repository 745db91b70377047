/** Orders to all instances that a filter of the list finds: by the admin API, and by pages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { type ApiStage, startApiStage } from '../../../../test/console/api-stage.ts';
import type { Json } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { soon } from '../../../../test/support/soon.ts';
import { defineWorkflow } from '../../charts/index.ts';
import { createBulkWork } from '../../console/workflow-bulk.ts';
import { asServiceWorkflow } from '../../instances/workflows.ts';
import { workflowsIn } from '../../open-workflows.ts';

const redis = testRedis();
const apId = 'http://bank.example';

/** The ids of instances whose archive is full, and how often each has been archived. */
const full = new Set<string>();
const archived: string[] = [];

const contract = setup({
  types: {
    context: {} as { readonly id: string },
    input: {} as { readonly id: string },
    events: {} as { type: 'OK' } | { type: 'REPLAY' } | { type: 'CANCEL' },
  },
  actors: {
    archive: fromPromise<void, string>(async ({ input }) => {
      if (full.has(input)) throw new Error('The archive is full');
      archived.push(input);
    }),
  },
}).createMachine({
  id: 'contract',
  context: ({ input }) => ({ id: input.id }),
  initial: 'deciding',
  states: {
    deciding: { on: { OK: 'archiving', CANCEL: 'cancelled' } },
    archiving: {
      invoke: {
        src: 'archive',
        input: ({ context }) => context.id,
        onDone: 'archived',
        onError: 'unarchived',
      },
    },
    unarchived: { meta: { job: 'failed' }, on: { REPLAY: 'archiving' } },
    archived: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
/** Takes no REPLAY, and a cancel in no state. */
const once = setup({
  types: { events: {} as { type: 'GO' } | { type: 'CANCEL' } },
}).createMachine({
  id: 'once',
  initial: 'waiting',
  states: {
    waiting: { on: { GO: 'bad' } },
    bad: { meta: { job: 'failed' } },
    never: { on: { CANCEL: 'bad' } },
  },
});

/** Its job completes in a state named failed, so it has no reason of its own. */
const closing = setup({
  types: { events: {} as { type: 'GO' } },
  actors: {
    close: fromPromise(async () => {
      throw new Error('No such customer');
    }),
  },
}).createMachine({
  id: 'closing',
  initial: 'waiting',
  states: {
    waiting: { on: { GO: 'closing' } },
    closing: { invoke: { src: 'close', onError: 'failed' } },
    failed: { type: 'final' },
  },
});

/** No state takes an error of its activity. */
const plain = setup({
  types: { context: {} as { readonly id: string }, input: {} as { readonly id: string } },
  actors: {
    archive: fromPromise<void, string>(async ({ input }) => {
      if (full.has(input)) throw new Error('The archive is full');
      archived.push(input);
    }),
  },
}).createMachine({
  id: 'plain',
  context: ({ input }) => ({ id: input.id }),
  initial: 'archiving',
  states: {
    archiving: {
      invoke: { src: 'archive', input: ({ context }) => context.id, onDone: 'archived' },
    },
    archived: { type: 'final' },
  },
});

const charts = [
  defineWorkflow({ name: 'closing', version: 1, chart: closing }),
  defineWorkflow({
    name: 'plain',
    version: 1,
    chart: plain,
    input: z.object({ id: z.string() }),
  }),
  defineWorkflow({
    name: 'contract',
    version: 1,
    chart: contract,
    input: z.object({ id: z.string() }),
    events: z.union([
      z.strictObject({ type: z.literal('OK') }),
      z.looseObject({ type: z.literal('CANCEL') }),
    ]),
  }),
  defineWorkflow({ name: 'once', version: 1, chart: once }),
];

let stage: ApiStage;
beforeAll(async () => {
  stage = await startApiStage(redis, charts);
  stage.runner();
});
afterAll(() => stage.close());

const api = async (method: string, path: string, body?: object): Promise<Json> => {
  const answer = await stage.ask('operator', method, `/admin/api${path}`, body);
  return { status: answer.status, ...answer.body };
};
const rowOf = async (id: string): Promise<Json> =>
  (await api('GET', '/workflows?limit=200')).rows.find((row: Json) => row.id === id);
const reaches = (id: string, status: string) =>
  soon(async () => expect((await rowOf(id))?.status).toBe(status));

const begin = async (name: string, ...ids: readonly string[]): Promise<void> => {
  for (const id of ids)
    expect((await stage.product.workflows.start(apId, name, { id }, id)).kind).toBe('started');
  for (const id of ids) await soon(async () => expect((await rowOf(id))?.state).toBeDefined());
};
const send = (name: string, id: string, type: string) =>
  stage.product.workflows.send(apId, name, id, { type });
const failed = async (...ids: readonly string[]): Promise<void> => {
  for (const id of ids) full.add(id);
  await begin('contract', ...ids);
  for (const id of ids) await send('contract', id, 'OK');
  for (const id of ids) await reaches(id, 'failed');
};
const ended = async (bulkId: string): Promise<Json> => {
  await soon(async () =>
    expect((await api('GET', `/replays/${bulkId}`)).state).toMatch(/done|stopped/),
  );
  return api('GET', `/replays/${bulkId}`);
};

it('failed workflows need a person: the overview counts them and leads to their list', async () => {
  const ofWorkflows = async () =>
    (await api('GET', '/overview')).needs.filter(({ kind }: Json) => kind === 'workflows-failed');
  expect(await ofWorkflows()).toEqual([]);
  await failed('n-1', 'n-2');
  const page = '/admin/workflows?status=failed';
  expect(await ofWorkflows()).toEqual([
    { kind: 'workflows-failed', count: 2, text: '2 workflows have failed', page },
  ]);
  const overview = (await stage.ask('operator', 'GET', '/admin')).text;
  expect(overview).toContain(`<a href="${page}">2 workflows have failed</a>`);
  full.clear();
  const { bulkId } = await api('POST', '/replays/workflows', {
    ...{ filter: { text: 'n-' }, perSecond: 1000, reason: 'There is room again' },
  });
  await ended(bulkId);
  for (const id of ['n-1', 'n-2']) await reaches(id, 'completed');
  expect(await ofWorkflows()).toEqual([]);
  // Plan and report belong to the workflows, and not to the transactions.
  for (const path of ['/admin/replays/workflows/plan?kind=replay', `/admin/replays/${bulkId}`]) {
    const { text } = await stage.ask('operator', 'GET', path);
    expect(/<a class="entry" href="([^"]*)" aria-current="page">/.exec(text)?.[1]).toBe(
      '/admin/workflows',
    );
  }
});

describe('a bulk of workflows', () => {
  it('replays all failed ones that a filter finds, once each, after a dry run', async () => {
    await failed('r-1', 'r-2', 'r-3');
    await begin('once', 'r-once');
    await send('once', 'r-once', 'GO');
    await reaches('r-once', 'failed');
    await begin('contract', 'r-open');
    const filter = { text: 'r-' };
    const plan = await api('POST', '/replays/workflows/plan', { filter });
    expect(plan).toMatchObject({
      status: 200,
      found: 4,
      replayable: 3,
      byWorkflow: { contract: 3 },
      byAp: { [apId]: 3 },
      byReason: { 'The archive is full': 3 },
      refused: { refused: 1, 'not-failed': 0 },
      truncated: false,
    });
    expect(plan.first.map(({ id }: Json) => id).sort()).toEqual(['r-1', 'r-2', 'r-3']);
    expect(plan.first[0]).toMatchObject({ state: 'unarchived', reason: 'The archive is full' });
    expect((await rowOf('r-1')).status).toBe('failed');

    full.clear();
    const order = { filter, perSecond: 1000, reason: 'There is room again' };
    const started = await api('POST', '/replays/workflows', order);
    expect(started.status).toBe(202);
    const report = await ended(started.bulkId);
    expect(report).toMatchObject({
      ...{ of: 'workflows', kind: 'replay', state: 'done', total: 3, by: 'the-operator' },
      counts: { done: 3, waiting: 0, changed: 0, refused: 0 },
    });
    expect(report.items.map(({ result }: Json) => result)).toEqual(['done', 'done', 'done']);
    for (const id of ['r-1', 'r-2', 'r-3']) await reaches(id, 'completed');
    expect(archived.filter((id) => id.startsWith('r-')).sort()).toEqual(['r-1', 'r-2', 'r-3']);
    const { entries } = await api('GET', `/audit?target=${started.bulkId}`);
    expect(
      entries.map(({ action, details }: Json) => [action, details.of ?? details.state]),
    ).toEqual([
      ['bulk-end', 'done'],
      ['bulk-replay', 'workflows'],
    ]);
  });

  it('replays those that the error of an activity has ended, too', async () => {
    const ids = ['p-1', 'p-2'];
    for (const id of ids) {
      full.add(id);
      await begin('plain', id);
      await reaches(id, 'failed');
    }
    const filter = { text: 'p-', failure: 'The archive is full' };
    const plan = await api('POST', '/replays/workflows/plan', { filter });
    expect(plan).toMatchObject({ found: 2, replayable: 2, byWorkflow: { plain: 2 } });
    full.clear();
    const order = { filter, perSecond: 1000, reason: 'There is room again' };
    const { bulkId } = await api('POST', '/replays/workflows', order);
    expect((await ended(bulkId)).counts).toMatchObject({ done: 2, refused: 0 });
    for (const id of ids) await reaches(id, 'completed');
    expect(archived.filter((id) => ids.includes(id)).sort()).toEqual(ids);
  });

  it('is found by why they have failed, in the list and in a plan', async () => {
    await failed('w-1', 'w-2');
    const found = await api('GET', '/workflows?failure=archive%20is&text=w-');
    expect(found.rows.map(({ id }: Json) => id).sort()).toEqual(['w-1', 'w-2']);
    expect((await api('GET', '/workflows?failure=other&text=w-')).rows).toEqual([]);
    expect((await stage.ask('viewer', 'GET', '/admin/api/workflows?failure=a')).status).toBe(403);
    const filter = { text: 'w-', failure: 'The archive is full' };
    expect((await api('POST', '/replays/workflows/plan', { filter })).replayable).toBe(2);
    full.clear();
  });

  it('is found by the failure of a chart whose job has completed', async () => {
    await begin('closing', 'c-1');
    await send('closing', 'c-1', 'GO');
    await reaches('c-1', 'failed');
    const found = await api('GET', '/workflows?failure=No%20such');
    expect(found.rows.map(({ id, reason }: Json) => [id, reason])).toEqual([
      ['c-1', 'No such customer'],
    ]);
  });

  it('sends an event to all that are open, and each takes it once', async () => {
    await begin('contract', 's-1', 's-2');
    await begin('once', 's-once');
    const selection = { kind: 'send', filter: { text: 's-' }, event: { type: 'OK' } };
    const plan = await api('POST', '/replays/workflows/plan', selection);
    expect(plan).toMatchObject({ found: 3, replayable: 2, refused: { refused: 1 } });
    const order = { ...selection, perSecond: 1000, reason: 'Decided' };
    const { bulkId } = await api('POST', '/replays/workflows', order);
    expect(await ended(bulkId)).toMatchObject({ event: { type: 'OK' }, counts: { done: 2 } });
    for (const id of ['s-1', 's-2']) await reaches(id, 'completed');
    expect((await rowOf('s-once')).status).toBe('open');
    expect((await api('POST', '/replays/workflows', order)).error).toBe('nothing');
    for (const wrong of [
      { kind: 'send', filter: {} },
      { kind: 'cancel', filter: {}, event: { type: 'OK' } },
      { filter: { status: ['open'] } },
      { filter: {}, ids: ['a'] },
      { kind: 'sign', filter: {} },
    ])
      expect(
        (await api('POST', '/replays/workflows/plan', wrong)).status,
        JSON.stringify(wrong),
      ).toBe(400);
    // Transactions take no event.
    const ofTransactions = { filter: {}, event: { type: 'OK' } };
    expect((await api('POST', '/replays/plan', ofTransactions)).status).toBe(400);
  });

  it('cancels all that are open, and says which charts refuse', async () => {
    await begin('contract', 'c-1', 'c-2');
    await begin('once', 'c-once');
    const selection = { kind: 'cancel', filter: { text: 'c-' } };
    expect(await api('POST', '/replays/workflows/plan', selection)).toMatchObject({
      found: 3,
      replayable: 2,
      refused: { refused: 1 },
    });
    const ids = (await api('POST', '/replays/workflows/plan', selection)).first.map(
      ({ instanceId }: Json) => instanceId,
    );
    const { instanceId } = await rowOf('c-2');
    const order = { kind: 'cancel', ids: [...ids, 'none'], perSecond: 1000, reason: 'Wrong text' };
    const { bulkId, plan } = await api('POST', '/replays/workflows', order);
    expect(plan.refused).toMatchObject({ unknown: 1 });
    const report = await ended(bulkId);
    expect(report.counts).toMatchObject({ cancelled: 2 });
    expect(report.items).toContainEqual({ id: instanceId, result: 'cancelled' });
    for (const id of ['c-1', 'c-2']) await reaches(id, 'cancelled');
  });

  it('is carried out once for each, also when another process does it again', async () => {
    await failed('a-1');
    await begin('contract', 'a-2', 'a-3');
    full.clear();
    const work = createBulkWork({
      workflows: await workflowsIn(
        {
          shards: stage.shards,
          retention: { signedMs: 1e9, failedMs: 1e9 },
          now: Date.now,
          settings: {} as never,
          redis: redis.client(),
          prefix: redis.prefix,
        },
        [],
        charts.map(asServiceWorkflow),
      ),
      redis: redis.client(),
    });
    const notes: unknown[] = [];
    const again = async (id: string, order: object, times = 2) => {
      const { instanceId } = await rowOf(id);
      const item = { id: instanceId, endedRuns: id === 'a-1' ? 1 : 0 };
      const common = { id: 'B1', by: 'olga', reason: 'x', perSecond: 1, createdAt: 1, total: 1 };
      const results: unknown[] = [];
      for (let time = 0; time < times; time += 1) {
        const about = { isAgain: time > 0, note: async (outcome?: string) => notes.push(outcome) };
        results.push(await work.carryOut(item, { ...common, ...order }, about));
        await soon(async () => expect((await rowOf(id)).status).not.toMatch(/open|failed/));
      }
      return results;
    };
    expect(await again('a-1', {})).toEqual(['done', 'done']);
    expect(archived.filter((id) => id === 'a-1')).toHaveLength(1);
    expect(await again('a-2', { kind: 'send', event: { type: 'OK' } })).toEqual(['done', 'done']);
    expect(archived.filter((id) => id === 'a-2')).toHaveLength(1);
    expect(await again('a-3', { kind: 'cancel' })).toEqual(['cancelled', 'cancelled']);
    expect(notes.every((outcome) => outcome === undefined)).toBe(true);
    // Another bulk comes too late, and has done nothing.
    for (const order of [{}, { kind: 'cancel' }, { kind: 'send', event: { type: 'OK' } }])
      expect(await again('a-2', { ...order, id: 'B2' }, 1)).toEqual(['changed']);
  });

  it('is planned and ordered by pages, with the event in a form', async () => {
    await failed('p-1');
    full.clear();
    const plan = '/admin/replays/workflows/plan';
    expect((await stage.ask('viewer', 'GET', `${plan}?text=p-`)).status).toBe(403);
    const { text } = await stage.ask('operator', 'GET', `${plan}?text=p-`);
    expect(text).toContain('Replay 1 workflow<');
    expect(text).toContain('The archive is full');
    const asked = await stage.ask('operator', 'GET', `${plan}?kind=send&text=p-`);
    expect(asked.text).toContain('name="eventType"');
    expect(asked.text).not.toContain('name="perSecond"');
    const whole = `${plan}?kind=send&text=p-&eventType=OK&eventData=%7B%7D`;
    const sent = (await stage.ask('operator', 'GET', whole)).text;
    expect(sent).toContain('<dt>Event</dt><dd>OK {}</dd>');
    const wrong = `${plan}?kind=send&text=p-&eventType=OK&eventData=%5B`;
    expect((await stage.ask('operator', 'GET', wrong)).status).toBe(422);
    const fields = { text: 'p-', kind: 'replay', perSecond: '1000', reason: 'Room', expected: '1' };
    const tooMany = await stage.post('operator', '/admin/replays/workflows', {
      ...fields,
      expected: '0',
    });
    expect(await tooMany.text()).toContain('There are more now');
    const done = await stage.post('operator', '/admin/replays/workflows', fields);
    const page = done.headers.get('location') ?? '';
    expect(page).toMatch(/^\/admin\/replays\/B/);
    await reaches('p-1', 'completed');
    await soon(async () =>
      expect((await stage.ask('viewer', 'GET', page)).text).toMatch(
        /runs again<\/td><td><span class="state done">completed</,
      ),
    );
    expect((await stage.ask('viewer', 'GET', page)).text).toMatch(
      /href="\/admin\/workflows\/[^"]+p-1"/,
    );
    expect((await stage.ask('viewer', 'GET', '/admin/replays')).text).toContain('workflows');
  });
});

describe('the list of workflows', () => {
  it('counts failures by workflow and reason, and leads to each with its filter', async () => {
    await failed('f-1', 'f-2');
    full.clear();
    await begin('closing', 'f-3');
    await send('closing', 'f-3', 'GO');
    await reaches('f-3', 'failed');
    await begin('once', 'f-4');
    const counted = await api('GET', '/workflows/failures?text=f-');
    expect(counted).toEqual({
      status: 200,
      found: 3,
      isWhole: true,
      failures: [
        { name: 'contract', reason: 'The archive is full', number: 2, mayReplay: true },
        { name: 'closing', reason: 'No such customer', number: 1, mayReplay: false },
      ],
    });
    const { body } = await stage.ask('viewer', 'GET', '/admin/api/workflows/failures?text=f-');
    expect(body.failures).toEqual([
      { name: 'contract', number: 2, mayReplay: true },
      { name: 'closing', number: 1, mayReplay: false },
    ]);

    const path = `/admin/workflows?status=failed&text=f-&apId=${encodeURIComponent(apId)}`;
    const { text } = await stage.ask('operator', 'GET', path);
    // Once above the list, and in each row.
    expect(text.match(/<td[^>]*>The archive is full<\/td>/g)).toHaveLength(3);
    const alike =
      'name=contract&amp;apId=http%3A%2F%2Fbank.example&amp;text=f-&amp;failure=The+archive+is+full';
    expect(text).toContain(`href="/admin/workflows?status=failed&amp;${alike}"`);
    expect(text).toContain(`href="/admin/replays/workflows/plan?${alike}"`);
    expect(text).not.toMatch(/workflows\/plan\?[^"]*No\+such\+customer/);
    const forViewer = (await stage.ask('viewer', 'GET', path)).text;
    expect(forViewer).not.toContain('The archive is full');
    // Nothing of these may be replayed, and the page says why.
    const over = `/admin/workflows?status=failed&text=f-&name=closing`;
    const closed = (await stage.ask('operator', 'GET', over)).text;
    expect(closed).not.toContain('what this filter shows');
    expect(closed).toContain('takes no REPLAY');
    const open = (await stage.ask('operator', 'GET', '/admin/workflows?status=open&text=f-')).text;
    expect(open).not.toContain('by reason');
  });

  it('has a total only where it is that of the rows that match', async () => {
    await failed('t-1', 't-2', 't-3');
    full.clear();
    await begin('closing', 't-4');
    await send('closing', 't-4', 'GO');
    await reaches('t-4', 'failed');
    const filter = 'status=failed&failure=archive&text=t-';
    const some = await api('GET', `/workflows?${filter}&limit=2`);
    expect([some.rows.length, some.total]).toEqual([2, undefined]);
    const all = await api('GET', `/workflows?${filter}`);
    expect([all.rows.length, all.total]).toEqual([3, 3]);
    const ofStatus = await api('GET', '/workflows?status=failed&name=closing&limit=1');
    expect(ofStatus.total).toBe(
      (await api('GET', '/workflows?status=failed&name=closing')).rows.length,
    );
  });

  it('is narrowed by saved filters of its own, as that of transactions', async () => {
    const save = (fields: Record<string, string>) => stage.post('operator', '/admin/view', fields);
    const answer = await save({ list: 'workflows', status: 'failed', text: 'r-', save: 'Bad' });
    expect(answer.headers.get('location')).toBe(
      '/admin/workflows?status=failed&text=r-&notice=filter-saved',
    );
    await save({ state: 'failed', save: 'Bad' });
    const link = 'href="/admin/workflows?status=failed&amp;text=r-">Bad<';
    const page = '/admin/workflows?notice=filter-saved';
    const { text } = await stage.ask('operator', 'GET', page);
    expect(text).toContain(link);
    expect(text).toContain('The filter is above the list');
    const ofTransactions = (await stage.ask('operator', 'GET', '/admin/transactions')).text;
    expect(ofTransactions).not.toContain(link);
    expect(ofTransactions).toContain('href="/admin/transactions?state=failed">Bad<');
    await save({ list: 'workflows', forget: 'Bad' });
    expect((await stage.ask('operator', 'GET', page)).text).not.toContain(link);
    expect((await stage.ask('operator', 'GET', '/admin/transactions')).text).toContain('>Bad<');
    // A list that there is not is that of transactions, and its fields are.
    const other = await save({ list: 'none', status: 'failed', state: 'failed', save: 'Other' });
    expect(other.headers.get('location')).toMatch(/^\/admin\/transactions\?state=failed&notice/);
  });

  it('is exported as each role sees it, and offers orders to operators', async () => {
    await failed('e-1');
    full.clear();
    const path = '/admin/workflows/export?format=csv&text=e-';
    const [head, line] = (await stage.ask('operator', 'GET', path)).text.split('\r\n');
    expect(head).toBe(
      '"instance","id","workflow","version","AP_ID","status","state","reason","started","ended"',
    );
    expect(line).toContain('"e-1","contract","1","http://bank.example","failed","unarchived"');
    expect(line).toContain('"The archive is full"');
    expect((await stage.ask('viewer', 'GET', path)).text).not.toContain('The archive is full');
    expect((await stage.ask('viewer', 'GET', `${path}&failure=full`)).status).toBe(422);
    const { body } = await stage.ask('viewer', 'GET', path.replace('csv', 'json'));
    expect(body.rows.map(({ id }: Json) => id)).toEqual(['e-1']);
    const { text } = await stage.ask('operator', 'GET', '/admin/workflows?status=failed');
    expect(text).toContain('href="/admin/replays/workflows/plan"');
    expect(text).not.toContain('value="cancel"');
    expect((await stage.ask('viewer', 'GET', '/admin/workflows')).text).not.toContain(
      '/replays/workflows/plan',
    );
  });
});
