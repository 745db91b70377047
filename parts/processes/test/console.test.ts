/** Workflows in the console: the list, one process, orders to it, and who sees what. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { type ApiStage, startApiStage } from '../../../test/console/api-stage.ts';
import type { Json } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../../workflows/charts/index.ts';
import { workflowsOf } from '../../workflows/queue.ts';

const redis = testRedis();
const apId = 'http://bank.example';

const waiting = setup({}).createMachine({ initial: 'waiting', states: { waiting: {} } });
const charts = ['note', 'note-b'].map((name) =>
  defineWorkflow({ name, version: 1, chart: waiting }),
);

let stage: ApiStage;
beforeAll(async () => {
  stage = await startApiStage(redis, charts);
});
afterAll(() => stage.close());

const instanceOf = async (id: string): Promise<string> => {
  const { rows } = (await stage.ask('viewer', 'GET', '/admin/api/workflows')).body;
  return rows.find((row: Json) => row.id === id)?.instanceId ?? '';
};

/** Waits until the operator sees the instance as wanted. */
const until = async (id: string, wanted: (detail: Json) => boolean): Promise<Json> => {
  let last: Json;
  await expect
    .poll(
      async () => {
        const path = `/admin/api/workflows/${await instanceOf(id)}`;
        last = (await stage.ask('operator', 'GET', path)).body;
        return wanted(last) || last;
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBe(true);
  return last;
};

/**
 * A process with a prompt on each phone.
 * @returns MSSP_TransIDs of the prompts, in the order of the signers.
 */
const begin = async (
  id: string,
  names: readonly string[],
  others: readonly object[] = [],
): Promise<{ path: string; prompts: readonly string[] }> => {
  const before = stage.asked().length;
  const people = names.map((name) => ({
    name,
    msisdn: stage.somebody(),
    text: `Bank: ${name} signs`,
  }));
  const started = await stage.product.workflows.start(
    apId,
    'process',
    { steps: [{ name: 'Board', signers: [...people, ...others] }] },
    id,
  );
  expect(started.kind).toBe('started');
  await expect
    .poll(() => stage.asked().length, { timeout: 20_000, interval: 20 })
    .toBe(before + names.length);
  const prompts = stage
    .asked()
    .slice(before)
    .map((each) => each.split(' ')[0] ?? '');
  await until(id, ({ children }) => children.length === names.length);
  return { path: `/admin/api/workflows/${await instanceOf(id)}`, prompts };
};

const states = ({ steps }: Json) => steps[0].signers.map(({ state }: Json) => state);

describe('workflows in the console', () => {
  it('are listed, newest first, by status, name and application', async () => {
    await begin('list-1', ['Anna']);
    await begin('list-2', ['Anna']);
    const list = async (query: string) =>
      (await stage.ask('viewer', 'GET', `/admin/api/workflows${query}`)).body.rows.map(
        ({ id }: Json) => id,
      );
    expect(await list('?limit=2')).toEqual(['list-2', 'list-1']);
    expect(await list('?status=open&name=process&apId=http%3A%2F%2Fbank.example&limit=1')).toEqual([
      'list-2',
    ]);
    expect(await list('?status=failed')).toEqual([]);
    expect(await list('?name=other')).toEqual([]);
    expect(await list('?apId=http%3A%2F%2Fother.example')).toEqual([]);
    const wrong = await stage.ask('viewer', 'GET', '/admin/api/workflows?status=secret');
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      'status[0] must be one of open, completed, failed, cancelled',
    ]);
    const page = await stage.ask('viewer', 'GET', '/admin/workflows?status=open');
    expect(page.text).toContain(`href="/admin/workflows/${await instanceOf('list-2')}"`);
    expect((await stage.ask('viewer', 'GET', '/admin/workflows?status=secret')).status).toBe(422);
  });

  it('are found by time, part of the id, and for operators by the number of a signer', async () => {
    const msisdn = stage.somebody();
    const person = { name: 'Anna', msisdn, text: 'Bank: I sign' };
    for (const id of ['search-1', 'search-2']) {
      const input = { steps: [{ name: 'Board', ask: 'page', signers: [person] }] };
      expect((await stage.product.workflows.start(apId, 'process', input, id)).kind).toBe(
        'started',
      );
    }
    const ask = (who: 'viewer' | 'operator', query: string, page = '/admin/api/workflows') =>
      stage.ask(who, 'GET', `${page}?${query}`);
    const list = async (query: string) =>
      (await ask('operator', query)).body.rows.map(({ id }: Json) => id);
    const number = encodeURIComponent(msisdn);
    expect(await list(`msisdn=${number}`)).toEqual(['search-2', 'search-1']);
    // By the clock of the service, which is not quite that of this process.
    const { rows } = (await ask('operator', `msisdn=${number}`)).body;
    const times = rows.map(({ createdAt }: Json) => createdAt);
    const at = Math.min(...times);
    expect(await list(`msisdn=${number}&text=ch-1&from=${at}`)).toEqual(['search-1']);
    expect(await list(`text=search-&to=${at}`)).toEqual([]);
    expect(await list(`from=${new Date(at).toISOString()}&to=${Math.max(...times) + 1}`)).toEqual([
      'search-2',
      'search-1',
    ]);
    const page = await ask(
      'operator',
      `msisdn=${number}&from=${new Date(at).toISOString()}`,
      '/admin/workflows',
    );
    expect(page.text).toContain(`href="/admin/workflows/${await instanceOf('search-1')}"`);
    expect(page.text).toContain(
      `name="from" autocomplete="off" spellcheck="false" value="${new Date(at).toISOString().slice(0, -1)}"`,
    );
    const hidden = await ask('viewer', `msisdn=${number}`);
    expect([hidden.status, hidden.body.message]).toEqual([403, 'msisdn needs the role operator']);
    for (const [who, query, words] of [
      ['viewer', `msisdn=${number}`, 'Your role may not search for people or their texts'],
      ['operator', 'msisdn=Anna', 'Must be a number with its country code, such as +41700092501'],
      ['operator', 'to=yesterday', 'Must be a date and a time'],
      ['operator', 'status=secret', 'Must be one of open, completed, failed, cancelled'],
    ] as const) {
      const wrong = await ask(who, query, '/admin/workflows');
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain(words);
    }
    const wrong = await ask('operator', 'msisdn=Anna');
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      'msisdn must be a number with its country code',
    ]);
  });

  it('are those of one name alone, and may have the same ending of their ids', async () => {
    const { workflows } = stage.product;
    const begun = [
      await workflows.start(apId, 'note', {}, 'b-1'),
      await workflows.start(apId, 'note-b', {}, '1'),
      await workflows.start(apId, 'note', {}, '-b-1'),
    ];
    expect(begun.map(({ kind }) => kind)).toEqual(['started', 'started', 'started']);
    await until('-b-1', ({ instance }) => instance.state === 'waiting');
    await until('1', ({ instance }) => instance.state === 'waiting');
    await until('b-1', ({ instance }) => instance.state === 'waiting');
    const list = async (name: string) =>
      (await stage.ask('viewer', 'GET', `/admin/api/workflows?name=${name}`)).body.rows;
    expect((await list('note')).map(({ id }: Json) => id).toSorted()).toEqual(['-b-1', 'b-1']);
    expect((await list('note-b')).map(({ name, id }: Json) => [name, id])).toEqual([
      ['note-b', '1'],
    ]);
  });

  it('show names and words of people to operators only', async () => {
    const { path } = await begin('roles-1', ['Anna Muster']);
    const child = `${path.split('/').at(-1)}/0-1-0`;
    const seen = await stage.ask('operator', 'GET', path);
    expect(seen.body).toMatchObject({
      instance: { id: 'roles-1', apId, status: 'open', state: { steps: 'open' } },
      steps: [
        {
          name: 'Board',
          state: 'open',
          signers: [{ key: '1', name: 'Anna Muster', state: 'open' }],
        },
      ],
      children: [{ id: child, name: '0-1-0', status: 'open' }],
      next: { name: 'deadline' },
    });
    expect(seen.body.timeline.map(({ what, who }: Json) => [what, who])).toEqual([
      ['Started', undefined],
      ['Step begun', 'Board'],
      ['Prompted', 'Anna Muster'],
    ]);
    const page = path.replace('/api', '');
    expect((await stage.ask('operator', 'GET', page)).text).toContain('Anna Muster');
    for (const where of [path, page]) {
      const hidden = await stage.ask('viewer', 'GET', where);
      expect(hidden.status).toBe(200);
      expect(hidden.text).not.toContain('Muster');
    }
    const target = path.split('/').at(-1);
    const { body } = await stage.ask('operator', 'GET', `/admin/api/audit?target=${target}`);
    // Once in a session, and not of a viewer.
    expect(body.entries.map(({ who, action }: Json) => [who, action])).toEqual([
      ['the-operator', 'view-sensitive'],
    ]);
    const log = await stage.ask('operator', 'GET', `/admin/audit?target=${target}`);
    expect(log.text).toContain(`href="${page}"`);
    for (const where of [path, page]) {
      const unknown = where.replace(/[^/]+$/, child);
      expect((await stage.ask('admin', 'GET', unknown)).status).toBe(404);
    }
  });

  it('show that a mail did not reach a signer', async () => {
    const { path } = await begin('mail-1', ['Anna']);
    const { engine, versions } = stage.product.workflows;
    const [process] = versions('process');
    if (process === undefined) throw new Error('there is a process');
    // As the workflow of the mail does.
    const event = { type: 'UNDELIVERED', code: 550 };
    expect(await engine.send(process, `${path.split('/').at(-1)}/0-1-0`, 'mail/1', event)).toBe(
      'taken',
    );
    const detail = await until(
      'mail-1',
      ({ steps }) => steps[0].signers[0].undelivered !== undefined,
    );
    expect(detail.steps[0].signers[0]).toMatchObject({ state: 'open', undelivered: { code: 550 } });
    expect(detail.timeline.at(-1)).toMatchObject({ what: 'Mail not delivered: 550', who: 'Anna' });
    for (const who of ['viewer', 'operator'] as const) {
      const page = await stage.ask(who, 'GET', path.replace('/api', ''));
      expect(page.text).toContain('mail not delivered');
      expect(page.text).toContain('Mail not delivered: 550');
    }
  });

  it('draws the chart with the state in which it is, and nested states', async () => {
    const { path } = await begin('chart-1', ['Anna']);
    const { text } = await stage.ask('operator', 'GET', path.replace('/api', ''));
    expect(text).toContain('aria-label="Statechart. Now steps.open."');
    expect(text.match(/class="node visited here"><rect[^>]*\/><text[^>]*>([^<]+)/)?.[1]).toBe(
      'open',
    );
    expect(text.match(/class="node visited here outer"><rect[^>]*\/><text[^>]*>([^<]+)/)?.[1]).toBe(
      'steps',
    );
    expect(text).toContain('>attest</tspan>');
    // In the chart of the signer, below its line in the tree of the children.
    expect(text).toMatch(
      /<strong>0-1-0<\/strong>[^\n]*<details id="child-0-1-0"><summary>Statechart of 0-1-0</,
    );
    expect(text).toContain('Scroll the chart sideways');
    const [, pause] = /attest.*?>([^<]*10[^<]*)<\/tspan>/s.exec(text) ?? [];
    expect(pause).toBe('10 seconds');
  });

  it('names the conditions of transitions in the chart when they are asked for', async () => {
    const { path } = await begin('chart-2', ['Anna']);
    const page = path.replace('/api', '');
    const plain = (await stage.ask('operator', 'GET', page)).text;
    expect(plain).not.toMatch(/\[\w+\]<\/tspan>/);
    const [, to = ''] = /<a href="([^"]*)">Show the conditions of transitions</.exec(plain) ?? [];
    expect(to).toBe(`${page}?guards=shown#life`);
    const { text } = await stage.ask('operator', 'GET', to.replace('#life', ''));
    expect(text).toMatch(/\[\w+\]<\/tspan>/);
    expect(text).toContain('Hide the conditions of transitions');
  });

  it('shows no table for a step that was skipped', async () => {
    const signers = [{ name: 'Anna', msisdn: '+41700092501', text: 'Bank: I sign' }];
    const steps = [
      { name: 'Board', signers, onRefusal: 'continue' },
      { name: 'Meeting', signers, if: { step: 'Board', is: 'unmet' } },
    ];
    const begun = await stage.product.workflows.start(apId, 'process', { steps }, 'skip-1');
    expect(begun).toMatchObject({ kind: 'started' });
    const ended = await until('skip-1', ({ instance }) => instance.status === 'completed');
    expect(ended.steps.map(({ state }: Json) => state)).toEqual(['done', 'skipped']);
    const { text } = await stage.ask(
      'operator',
      'GET',
      `/admin/workflows/${await instanceOf('skip-1')}`,
    );
    expect(text).toContain('Signers of Board');
    expect(text).not.toContain('Signers of Meeting');
  });

  it('asks a signer again who rests; the signatures of the others stay', async () => {
    const { path, prompts } = await begin(
      'again-1',
      ['Beat'],
      [{ name: 'Anna', msisdn: '+41700092501', text: 'Bank: I sign' }],
    );
    await stage.answer(prompts[0] ?? '', 1, 402);
    await until('again-1', (each) => states(each).join() === 'rests,signed');
    const order = { step: 'Board', key: '1', reason: 'The PIN is unblocked' };
    expect((await stage.ask('viewer', 'POST', `${path}/again`, order)).status).toBe(403);
    for (const wrong of [{ key: '2' }, { key: 'other' }, { step: 'other' }])
      expect(
        (await stage.ask('operator', 'POST', `${path}/again`, { ...order, ...wrong })).status,
      ).toBe(409);
    const audited = `/admin/api/audit?target=${path.split('/').at(-1)}`;
    expect((await stage.ask('operator', 'GET', audited)).body.entries[0]).toMatchObject({
      action: 'workflow-again',
      details: { key: '1', outcome: 'refused' },
    });
    const before = stage.asked().length;
    expect((await stage.ask('operator', 'POST', `${path}/again`, order)).body).toEqual({
      result: 'done',
    });
    await expect
      .poll(() => stage.asked().length, { timeout: 20_000, interval: 20 })
      .toBe(before + 1);
    await stage.answer(stage.asked().at(-1)?.split(' ')[0] ?? '', 1, 401);
    const ended = await until('again-1', ({ instance }) => instance.endedAt !== undefined);
    expect(states(ended)).toEqual(['refused', 'signed']);
    expect(ended.timeline.at(-1)).toMatchObject({ what: 'Ended: failed' });
    expect((await stage.ask('operator', 'POST', `${path}/again`, order)).status).toBe(409);
  });

  it('is cancelled with a reason, which is in the audit log', async () => {
    const { path } = await begin('cancel-1', ['Anna']);
    const page = path.replace('/api', '');
    expect((await stage.ask('operator', 'POST', `${path}/cancel`, {})).status).toBe(400);
    expect((await stage.ask('viewer', 'POST', `${path}/cancel`, { reason: 'Wrong' })).status).toBe(
      403,
    );
    const form = await stage.post('operator', `${page}/cancel`, { reason: 'The wrong contract' });
    expect([form.status, form.headers.get('location')]).toEqual([
      303,
      `${page}?notice=workflow-cancelled`,
    ]);
    const ended = await until('cancel-1', ({ instance }) => instance.status === 'cancelled');
    expect([ended.instance.state, states(ended)]).toEqual(['cancelled', ['withdrawn']]);
    const late = await stage.ask('operator', 'POST', `${path}/cancel`, { reason: 'Again' });
    expect([late.status, late.body.error]).toEqual([409, 'ended']);
    const { entries } = (
      await stage.ask(
        'operator',
        'GET',
        `/admin/api/audit?action=workflow-cancel&target=${path.split('/').at(-1)}`,
      )
    ).body;
    expect(entries).toMatchObject([
      { action: 'workflow-cancel', reason: 'The wrong contract', details: { name: 'process' } },
    ]);
  });

  it('shows why somebody cancelled it to operators only', async () => {
    const { workflows } = stage.product;
    await workflows.start(apId, 'note', {}, 'stop-1');
    await until('stop-1', ({ instance }) => instance.state === 'waiting');
    const path = `/admin/api/workflows/${await instanceOf('stop-1')}`;
    await stage.ask('operator', 'POST', `${path}/cancel`, { reason: 'Anna has moved' });
    const { instance } = await until('stop-1', (detail) => detail.instance.status === 'cancelled');
    expect(instance.reason).toBe('Anna has moved');
    for (const where of [
      path,
      path.replace('/api', ''),
      '/admin/api/workflows',
      '/admin/workflows',
    ])
      expect((await stage.ask('viewer', 'GET', where)).text).not.toContain('Anna has moved');
  });

  it('is not cancelled while it compensates; the timeline has the steps of its compensation', async () => {
    const robot = { name: 'Anna', msisdn: '+41700092501', text: 'Bank: Anna signs' };
    const person = (name: string) => ({
      name,
      msisdn: stage.somebody(),
      text: `Bank: ${name} signs`,
    });
    const before = stage.asked().length;
    const definition = {
      steps: [
        { name: 'First', signers: [robot] },
        { name: 'Second', signers: [person('Beat')] },
      ],
      compensation: [
        { tell: 'http://127.0.0.1:9/undo' },
        { name: 'Revoke', signers: [robot] },
        { name: 'Confirm', signers: [person('Cleo')] },
      ],
    };
    await stage.product.workflows.start(apId, 'process', definition, 'undo-1');
    const asked = (count: number) =>
      expect
        .poll(() => stage.asked().length, { timeout: 20_000, interval: 20 })
        .toBe(before + count);
    // Robots are none of the phones of the stage.
    await asked(1);
    const page = `/admin/workflows/${await instanceOf('undo-1')}`;
    expect((await stage.ask('operator', 'GET', page)).text).toContain(`action="${page}/cancel"`);
    await stage.answer(stage.asked().at(-1)?.split(' ')[0] ?? '', 1, 401);
    await asked(2);
    const { timeline } = await until('undo-1', ({ steps }) => steps.at(-1)?.state === 'open');
    const told = timeline.flatMap(({ what, who }: Json) =>
      what.startsWith('Step') ? [[what, who]] : [],
    );
    expect(told.slice(-3)).toEqual([
      ['Step begun', 'Revoke'],
      ['Step done', 'Revoke'],
      ['Step begun', 'Confirm'],
    ]);
    const order = [
      'POST',
      page.replace('/admin', '/admin/api').concat('/cancel'),
      { reason: 'x' },
    ] as const;
    const late = await stage.ask('operator', ...order);
    expect([late.status, late.body.error]).toEqual([409, 'too-late']);
    const form = await stage.post('operator', `${page}/cancel`, { reason: 'x' });
    const location = form.headers.get('location') ?? '';
    expect(location).toBe(`${page}?notice=workflow-too-late`);
    const { text } = await stage.ask('operator', 'GET', location);
    expect(text).toContain('The workflow takes no cancel in its state.');
    expect(text).not.toContain(`action="${page}/cancel"`);
  });

  it('shows what another program has made of a record', async () => {
    const { path } = await begin('hostile-1', ['Anna']);
    const id = path.split('/').at(-1) ?? '';
    const { queue } = stage.product.workflows.locate(id);
    const record = {
      workflow: 'process',
      version: 1,
      status: 'active',
      value: { steps: 7 },
      context: 5,
      next: 1,
    };
    await redis.client().hset(queue.toKey(id), 'progress', JSON.stringify(record));
    for (const where of [path, path.replace('/api', ''), '/admin/workflows'])
      expect((await stage.ask('operator', 'GET', where)).status).toBe(200);
  });
});

describe('the queue board', () => {
  const board = async (who: 'viewer' | 'operator', path: string): Promise<Json> =>
    (await stage.ask(who, 'GET', `/admin/queues/api/queues${path}`)).body;
  const shardOf = (id: string): number =>
    stage.shards.findIndex(
      (shard) =>
        workflowsOf(shard).queue.qualifiedName ===
        stage.product.workflows.locate(id).queue.qualifiedName,
    );
  const names = ({ id, state, children }: Json): Json => [id, state, children.map(names)];

  it('shows a process as the parent of the transactions of its signers', async () => {
    const robot = { name: 'Anna Muster', msisdn: '+41700092501', text: 'Bank: I sign' };
    const { path, prompts } = await begin('flow-1', ['Beat'], [robot]);
    const id = path.split('/').at(-1) ?? '';
    const [open = ''] = prompts;
    const { steps } = await until('flow-1', (each) => states(each).join() === 'open,signed');
    const signed: string = steps[0].signers[1].msspTransId;
    const at = (instance: string) => `${shardOf(instance)}-workflows`;
    const queueOf = (transaction: string) => `${Number(transaction.slice(1, 3))}-signatures`;
    const looked = [
      [at(id), id],
      [queueOf(open), open],
      [queueOf(signed), signed],
    ] as const;
    for (const who of ['viewer', 'operator'] as const) {
      for (const [queue, job] of looked) {
        const flow = await board(who, `/${queue}/${job}/flow`);
        expect(flow).toMatchObject({ nodeId: job, isFlowNode: true });
        const transactions = [
          [open, 'delayed', []],
          [signed, 'completed', []],
        ].toSorted(([one], [other]) => String(one).localeCompare(String(other)));
        expect(names(flow.flowRoot)).toEqual([id, 'delayed', transactions]);
        const queues = [flow.flowRoot, ...flow.flowRoot.children].map(
          ({ queueName }: Json) => queueName,
        );
        expect(queues).toEqual([at(id), ...transactions.map(([each]) => queueOf(String(each)))]);
        expect(JSON.stringify(flow)).not.toMatch(/Muster|Beat|I sign|\+?4170|http/);
      }
    }
    const page = await stage.ask('viewer', 'GET', path.replace('/api', ''));
    expect(page.text).toContain(`href="/admin/queues/queue/${at(id)}/${id}"`);
  });

  it('lists instances by what they are, without what applications and people have written', async () => {
    const { path } = await begin('flow-2', ['Beat Kunz']);
    const id = path.split('/').at(-1) ?? '';
    for (const who of ['viewer', 'operator'] as const) {
      const query = `?activeQueue=${shardOf(id)}-workflows&status=delayed&page=1&jobsPerPage=100`;
      const { queues }: { queues: Json[] } = await board(who, query);
      const jobs: Json[] = queues.flatMap((queue: Json) => queue.jobs);
      expect(jobs.find((job) => job.id === id)).toMatchObject({
        name: `${apId} · process · flow-2`,
        data: { apId, workflow: 'process', version: 1, state: { steps: 'open' } },
        externalUrl: { href: `/admin/workflows/${id}` },
      });
      const opened = await board(who, `/${shardOf(id)}-workflows/${id}`);
      expect(opened.job.data).toEqual(jobs.find((job) => job.id === id).data);
      expect(JSON.stringify([queues, opened])).not.toMatch(/Kunz|signs|"signers"/);
    }
  });

  it('shows no flow for a transaction that no workflow has asked for, nor for what is none', async () => {
    const alone = await stage.submit(stage.somebody());
    for (const path of [
      `/${Number(alone.slice(1, 3))}-signatures/${alone}`,
      '/0-workflows/meta',
      '/none/1',
    ])
      expect(await board('viewer', `${path}/flow`)).toMatchObject({
        isFlowNode: false,
        flowRoot: null,
      });
  });
});
