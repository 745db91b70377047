/**
 * Charts of an operator in the console: their transactions, their failures, and the orders as
 * buttons.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { type ApiStage, startApiStage } from '../../../../test/console/api-stage.ts';
import type { Json } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { defineWorkflow, service } from '../../charts/index.ts';

const redis = testRedis();
const apId = 'http://bank.example';
const robot = { msisdn: '+41700092501', text: 'Bank: I agree' };

const clerk = setup({ actors: { sign: service.sign } }).createMachine({
  id: 'clerk',
  initial: 'asking',
  states: {
    asking: { invoke: { src: 'sign', input: robot, onDone: 'done' } },
    done: { type: 'final' },
  },
});

let isBroken = true;
/** Keeps nothing of the signatures. */
const contract = setup({
  types: { events: {} as { type: 'OK'; amount?: number } | { type: 'REPLAY' } },
  actors: {
    sign: service.sign,
    clerk,
    archive: fromPromise(async () => {
      if (isBroken) throw new Error('The archive is full');
    }),
  },
}).createMachine({
  id: 'contract',
  initial: 'asking',
  states: {
    asking: { invoke: { src: 'sign', input: robot, onDone: 'checking' } },
    checking: { invoke: { src: 'clerk', onDone: 'deciding' } },
    deciding: { on: { OK: 'archiving' } },
    archiving: { invoke: { src: 'archive', onDone: 'archived', onError: 'unarchived' } },
    unarchived: { meta: { job: 'failed' }, on: { REPLAY: 'archiving' } },
    archived: { type: 'final' },
  },
});

const charts = [
  defineWorkflow({
    name: 'contract',
    version: 1,
    chart: contract,
    events: z.strictObject({ type: z.literal('OK'), amount: z.number().optional() }),
  }),
];

let stage: ApiStage;
beforeAll(async () => {
  stage = await startApiStage(redis, charts);
});
afterAll(() => stage.close());

/** The address of the page of an instance that waits for OK. */
const begin = async (id: string): Promise<string> => {
  const started = await stage.product.workflows.start(apId, 'contract', {}, id);
  expect(started.kind).toBe('started');
  const { rows } = (await stage.ask('viewer', 'GET', '/admin/api/workflows')).body;
  const page = `/admin/workflows/${rows.find((row: Json) => row.id === id)?.instanceId}`;
  await until(page, ({ instance }) => instance.state === 'deciding');
  return page;
};

const detailOf = async (page: string): Promise<Json> =>
  (await stage.ask('operator', 'GET', page.replace('/admin', '/admin/api'))).body;

const until = async (page: string, wanted: (detail: Json) => boolean): Promise<Json> => {
  let last: Json;
  const look = async () => {
    last = await detailOf(page);
    return wanted(last) || last;
  };
  await expect.poll(look, { timeout: 20_000, interval: 20 }).toBe(true);
  return last;
};

const send = (page: string, fields: Record<string, string>) =>
  stage.post('operator', `${page}/events`, fields);
const noticeOf = (response: Response): string | undefined =>
  /\?notice=(.+)$/.exec(response.headers.get('location') ?? '')?.[1];

describe('an instance of a chart of one’s own', () => {
  it('leads to the transactions of its signatures, also when it has kept nothing of them', async () => {
    const page = await begin('links-1');
    const { timeline } = await detailOf(page);
    const asked = timeline.filter(({ msspTransId }: Json) => msspTransId !== undefined);
    expect(asked.map(({ what, who }: Json) => [what, who])).toEqual([
      ['Asked to sign', 'asking'],
      ['Signed', 'asking'],
      ['Asked to sign', 'checking: asking'],
      ['Signed', 'checking: asking'],
    ]);
    const shown = (await stage.ask('operator', 'GET', page)).text;
    expect(shown).toMatch(/completed<\/span> <strong>[^<]*clerk[^<]*<\/strong>[^\n]*>Signed</);
    const ids = new Set(asked.map(({ msspTransId }: Json) => msspTransId));
    expect(ids.size).toBe(2);
    for (const who of ['viewer', 'operator'] as const) {
      const { text } = await stage.ask(who, 'GET', page);
      for (const id of ids) expect(text).toContain(`href="/admin/transactions/${id}"`);
    }
    for (const id of ids)
      expect((await stage.ask('viewer', 'GET', `/admin/transactions/${id}`)).status).toBe(200);
  });

  it('is sent an event by a form of its page, by operators', async () => {
    isBroken = false;
    const page = await begin('send-1');
    const action = `action="${page}/events"`;
    expect((await stage.ask('viewer', 'GET', page)).text).not.toContain(action);
    const { text } = await stage.ask('operator', 'GET', page);
    expect(text).toContain(action);
    // Not REPLAY, which its `events` do not name.
    expect([...text.matchAll(/<option value="([^"]+)">/g)].map(([, type]) => type)).toEqual(['OK']);
    expect((await stage.post('viewer', `${page}/events`, { type: 'OK' })).status).toBe(403);
    for (const [fields, notice] of [
      [{ type: 'OK', data: '{' }, 'event-data'],
      [{ type: 'OK', data: '[1]' }, 'event-data'],
      [{ type: '' }, 'event-data'],
      [{ type: 'OK', data: '{"amount":"x"}' }, 'event-invalid'],
      [{ type: 'OK', reason: 'x'.repeat(501) }, 'reason'],
      [
        { type: 'OK', data: '{"amount":5,"type":"OTHER"}', reason: 'The clerk has called' },
        'event-taken',
      ],
    ] as const)
      expect(noticeOf(await send(page, fields)), JSON.stringify(fields).slice(0, 60)).toBe(notice);
    await until(page, ({ instance }) => instance.status === 'completed');
    expect(noticeOf(await send(page, { type: 'OK' }))).toBe('workflow-gone');
    expect((await stage.ask('operator', 'GET', page)).text).not.toContain(action);
    const audited = `/admin/api/audit?target=${page.split('/').at(-1)}&action=workflow-event`;
    const { entries } = (await stage.ask('operator', 'GET', audited)).body;
    // Each refusal has another entry, with its outcome.
    expect(entries.map(({ reason, details }: Json) => [reason, details.outcome])).toEqual([
      [undefined, 'not-done'],
      [undefined, undefined],
      ['The clerk has called', undefined],
      [undefined, 'not-done'],
      [undefined, undefined],
    ]);
    expect(
      (await stage.post('operator', '/admin/workflows/none/events', { type: 'OK' })).status,
    ).toBe(404);
  });

  it('says why it has failed, and runs again by a button of its page', async () => {
    isBroken = true;
    const page = await begin('again-1');
    const action = `action="${page}/replay"`;
    expect((await stage.ask('operator', 'GET', page)).text).not.toContain(action);
    expect(noticeOf(await stage.post('operator', `${page}/replay`, {}))).toBe(
      'workflow-not-failed',
    );
    await send(page, { type: 'OK' });
    const failed = await until(page, ({ instance }) => instance.status === 'failed');
    expect(failed.instance.reason).toBe('The archive is full');
    const { text } = await stage.ask('operator', 'GET', page);
    expect(text).toContain('The archive is full');
    expect(text).toContain(action);
    expect(text).toContain('Error – The archive is full');
    const { text: forViewer } = await stage.ask('viewer', 'GET', page);
    expect(forViewer).not.toContain(action);
    // A viewer gets names and no messages.
    expect(forViewer).toContain('archive failed, try 1');
    expect(forViewer).not.toContain('The archive is full');
    // The way to all that has failed alike, for those who may go it.
    const alike =
      '/admin/replays/workflows/plan?name=contract&amp;apId=http%3A%2F%2Fbank.example&amp;failure=The+archive+is+full';
    expect(text).toContain(`href="${alike}"`);
    expect(forViewer).not.toContain('/replays/workflows/plan');
    const plan = await stage.ask('operator', 'GET', alike.replaceAll('&amp;', '&'));
    expect(plan.text).toContain('Replay 1 workflow<');
    expect((await stage.post('viewer', `${page}/replay`, {})).status).toBe(403);
    isBroken = false;
    const again = await stage.post('operator', `${page}/replay`, { reason: 'There is room again' });
    expect(noticeOf(again)).toBe('workflow-replayed');
    expect(await until(page, ({ instance }) => instance.status === 'completed')).toMatchObject({
      instance: { state: 'archived' },
    });
    const audited = `/admin/api/audit?target=${page.split('/').at(-1)}&action=workflow-replay`;
    const { entries } = (await stage.ask('operator', 'GET', audited)).body;
    expect(entries.map(({ reason, details }: Json) => [reason, details.outcome])).toEqual([
      ['There is room again', undefined],
      [undefined, 'not-done'],
      [undefined, undefined],
    ]);
  });
});
