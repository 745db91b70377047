/** Replays one by one: who may, what the application sees, and that a person is prompted once. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultCodes, faultTable } from '../../../packages/protocol/src/fault.ts';
import { defaultReplayPolicy, refusalOf } from '../../../src/console/operators/replay-policy.ts';
import { createReplayOnce } from '../../../src/transactions/jobs/replay-once.ts';
import { queueIn } from '../../../src/transactions/shards.ts';
import { testRedis } from '../../support/redis.ts';
import { signRequest } from '../../support/requests.ts';
import { soon } from '../../support/soon.ts';
import { type ReplayStage, startReplayStage } from './replay-stage.ts';
import { admin, operator, viewer } from './stage.ts';

const redis = testRedis();
let stage: ReplayStage;

beforeAll(async () => {
  stage = await startReplayStage(redis);
});
afterAll(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const entriesOf = async (target: string) =>
  (await stage.audit.read({ target }))?.entries.map(
    ({ who, action, reason, details }) => [who, action, reason, details] as const,
  ) ?? [];

describe('a replay', () => {
  it('takes the status of the same transaction from the fault back to 504, and to its new end', async () => {
    const id = await stage.failed(208);
    expect(await stage.status(id)).toBe('208');
    expect(await stage.replays.replay(id, operator)).toBe('replayed');
    expect(await stage.status(id)).toBe('504');
    await stage.answer(id, 2, 401);
    await soon(async () => expect(await stage.status(id)).toBe('401'));
    expect(stage.asked().filter((line) => line.startsWith(id))).toEqual([`${id} 1`, `${id} 2`]);
    expect(await entriesOf(id)).toEqual([
      ['olga', 'replay', undefined, { fault: 208, attempt: 2 }],
    ]);
  });

  it('keeps the history, and says in the job who ordered it', async () => {
    const id = await stage.failed(208);
    await stage.replays.replay(id, operator);
    await stage.answer(id, 2, 208);
    await soon(async () => expect(await stage.status(id)).toBe('208'));
    const [at] = stage.shards.filter(({ index }) => id.startsWith(`H0${index}`));
    const fields = await stage.product.core.blocking.hgetall(at?.signatures.queue.toKey(id) ?? '');
    expect(JSON.parse(fields['replay:1'] ?? '{}')).toEqual({
      by: 'olga',
      order: expect.any(String),
    });
    const { history } = JSON.parse(fields.progress ?? '{}').context;
    expect(
      history.map(
        ({ state, attempt }: { state: string; attempt: number }) => `${state} ${attempt}`,
      ),
    ).toEqual(['submitted 1', 'pending 1', 'failed 1', 'submitted 2', 'pending 2', 'failed 2']);
  });

  it('is done once when many order it at once', async () => {
    const id = await stage.failed(208);
    const results = await Promise.all(
      [1, 2, 3, 4, 5].map(() => stage.replays.replay(id, operator)),
    );
    expect(results.filter((result) => result === 'replayed')).toHaveLength(1);
    expect(results.filter((result) => result === 'not-failed')).toHaveLength(4);
    await stage.answer(id, 2, 208);
    expect(stage.asked().filter((line) => line === `${id} 2`)).toHaveLength(1);
  });

  it('is for the end that it was ordered for: an order that comes late does not prompt once more', async () => {
    const id = await stage.failed(208);
    const replayOnce = createReplayOnce(stage.product.core.blocking, queueIn(stage.shards));
    const note = { by: 'olga', order: 'B1' };
    expect(await replayOnce(id, 1, note)).toBe('replayed');
    await stage.answer(id, 2, 208);
    await soon(async () => expect(await stage.status(id)).toBe('208'));
    expect(await replayOnce(id, 1, note)).toBe('replayed');
    expect(await replayOnce(id, 1, { ...note, order: 'B2' })).toBe('changed');
    expect(await stage.status(id)).toBe('208');
    expect(stage.asked().filter((line) => line.startsWith(id))).toHaveLength(2);
    expect(await replayOnce('H0000000000000000000', 1, note)).toBe('unknown');
  });

  it('is not possible for what was signed, is open, or is unknown', async () => {
    const signed = await stage.product.post('/rest/service/sign', signRequest());
    expect(await stage.replays.replay(signed.body.MSS_SignatureResp.MSSP_TransID, admin)).toBe(
      'not-failed',
    );
    const open = await stage.submit(stage.somebody());
    expect(await stage.replays.replay(open, admin)).toBe('not-failed');
    await stage.answer(open, 1, 401);
    expect(await stage.replays.replay('H0000000000000000000', admin)).toBe('unknown');
    expect(await stage.replays.replay('nonsense', admin)).toBe('unknown');
  });

  it('of what a person has cancelled needs a reason', async () => {
    const id = await stage.failed(401);
    expect(await stage.replays.replay(id, operator)).toEqual({ refused: 'reason' });
    expect(await stage.replays.replay(id, operator, '  ')).toEqual({ refused: 'reason' });
    expect(await entriesOf(id)).toEqual([]);
    expect(await stage.replays.replay(id, operator, 'She called: a slip')).toBe('replayed');
    await stage.answer(id, 2, 401);
    expect(await entriesOf(id)).toEqual([
      ['olga', 'replay', 'She called: a slip', { fault: 401, attempt: 2 }],
    ]);
  });

  it('is refused to whom the policy refuses it', async () => {
    const id = await stage.failed(208);
    expect(await stage.replays.replay(id, viewer)).toEqual({ refused: 'role' });
    const narrow = await stage.replaysWith({ 208: 'admin' });
    expect(await narrow.replay(id, operator)).toEqual({ refused: 'role' });
    const never = await stage.replaysWith({ 208: 'never' });
    expect(await never.replay(id, admin, 'please')).toEqual({ refused: 'never' });
    const outcomes = (await entriesOf(id)).map(([, , , details]) => details?.outcome);
    expect(outcomes).toEqual(['never', 'role', 'role']);
    expect(await stage.status(id)).toBe('208');
  });

  it('of a login is refused to everybody, whatever its fault', async () => {
    for (const code of [208, 209, 401] as const) {
      const id = await stage.failedLogin(code);
      expect(await stage.replays.replay(id, admin, 'The browser is still open')).toEqual({
        refused: 'login',
      });
      expect((await stage.history.find(id))?.attempt).toBe(1);
      const details = { fault: code, attempt: 2, outcome: 'login' };
      expect(await entriesOf(id)).toEqual([
        ['root', 'replay', 'The browser is still open', details],
      ]);
    }
  });

  it('of what a workflow has asked for is refused: the workflow has heard of the end', async () => {
    const id = await stage.failedOfWorkflow(208);
    expect(await stage.replays.replay(id, admin, 'She is back')).toEqual({ refused: 'workflow' });
    expect(await stage.replays.plan({ ids: [id] }, admin)).toMatchObject({
      replayable: 0,
      refused: { workflow: 1 },
    });
    expect((await stage.history.find(id))?.attempt).toBe(1);
    const details = { fault: 208, attempt: 2, outcome: 'workflow' };
    expect(await entriesOf(id)).toEqual([['root', 'replay', 'She is back', details]]);
  });

  it('does not prompt one person without end', async () => {
    const msisdn = stage.somebody();
    const id = await stage.failed(208, msisdn);
    for (let attempt = 2; attempt <= 7; attempt += 1) {
      expect(await stage.replays.replay(id, operator)).toBe('replayed');
      await stage.answer(id, attempt, 208);
      await soon(async () => expect(await stage.status(id)).toBe('208'));
    }
    expect(await stage.replays.replay(id, operator)).toEqual({ refused: 'too-many' });
    expect((await entriesOf(id)).at(0)?.[3]).toEqual({
      fault: 208,
      attempt: 8,
      outcome: 'too-many',
    });
  });

  it('is not done when it cannot be recorded', async () => {
    const id = await stage.failed(208);
    const key = `{${stage.prefix}}:audit`;
    const client = redis.client();
    await client.rename(key, `${key}:aside`);
    await client.set(key, 'not a stream');
    await expect(stage.replays.replay(id, operator)).rejects.toThrow();
    await client.rename(`${key}:aside`, key);
    expect(await stage.status(id)).toBe('208');
  });
});

describe('a cancel', () => {
  it('ends an open transaction as fault 401, with a reason in the log', async () => {
    const id = await stage.submit(stage.somebody());
    await soon(() => expect(stage.asked()).toContain(`${id} 1`));
    expect(await stage.replays.cancel(id, viewer, 'why not')).toEqual({ refused: 'role' });
    expect(await stage.replays.cancel(id, operator, '')).toEqual({ refused: 'reason' });
    expect(await stage.replays.cancel(id, operator, 'The shop asks for it')).toBe('cancelled');
    await soon(async () => expect(await stage.status(id)).toBe('401'));
    expect(await stage.replays.cancel(id, operator, 'Once more')).toBe('too-late');
    expect(await stage.replays.cancel('H0000000000000000000', operator, 'Gone')).toBe('unknown');
    expect(await entriesOf(id)).toEqual([
      ['olga', 'cancel', 'Once more', { outcome: 'too-late' }],
      ['olga', 'cancel', 'Once more', undefined],
      ['olga', 'cancel', 'The shop asks for it', undefined],
    ]);
  });
});

describe('the policy', () => {
  it('has a rule for every fault, and never replays what is wrong with the request itself', () => {
    expect(Object.keys(defaultReplayPolicy).map(Number)).toEqual(faultCodes);
    for (const code of faultCodes) expect(defaultReplayPolicy[code] === 'never').toBe(code < 200);
  });

  it('is what the document says', () => {
    const rows = readFileSync('docs/operations/replay.md', 'utf8').matchAll(
      /^\| (\d{3}) (\w+) \| `([\w-]+)` \|/gm,
    );
    expect([...rows].map(([, code, reason, rule]) => [Number(code), reason, rule])).toEqual(
      faultCodes.map((code) => [code, faultTable[code].reason, defaultReplayPolicy[code]]),
    );
  });

  it('never replays a fault that is not in the table', () => {
    const failed = { apId: 'http://test.example', code: 999, ofWorkflow: false };
    expect(refusalOf(defaultReplayPolicy, failed, 'admin', 'please')).toBe('never');
  });
});
