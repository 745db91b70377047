/**
 * What of the events is indexed by a script in Redis, and that its rows are those of the reader.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createIndexStore } from '../../../src/transactions/history/index-store.ts';
import { indexSubmitted } from '../../../src/transactions/history/index-submitted.ts';
import { readEntries } from '../../../src/transactions/history/jobs.ts';
import { type ShardKeys, shardKeys } from '../../../src/transactions/history/keys.ts';
import {
  factsWidth,
  namesWidth,
  packEntries,
} from '../../../src/transactions/history/packed-row.ts';
import type { Position } from '../../../src/transactions/history/position.ts';
import { testRedis } from '../../support/redis.ts';
import { signRequest } from '../../support/requests.ts';
import { type Stage, startStage } from './stage.ts';

const test = testRedis();
let stage: Stage;
afterEach(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

/** With an index and no process that follows. */
const begin = async (): Promise<{ readonly keys: ShardKeys; readonly position: Position }> => {
  stage = await startStage(test);
  const indexer = stage.indexer();
  await indexer.idle();
  await indexer.close();
  const keys = shardKeys(stage.prefix, 0);
  const position = await createIndexStore(stage.redis, keys, Date.now).position();
  if (position === undefined) throw new Error('there is a position');
  return { keys, position };
};

const sign = (changes: object = {}, request: object = {}): object => ({
  ...changes,
  MSS_SignatureReq: {
    // A fact that only the reader knows would be seen here.
    ...signRequest().MSS_SignatureReq,
    SignatureProfile: 'https://any.example/STK-LoA4',
    MobileUser: { MSISDN: '+41790000001' },
    AP_Info: { AP_TransID: 'T', Instant: 'x', AP_ID: 'mid://shop' },
    ...request,
  },
});
const nested = `${'['.repeat(1001)}${']'.repeat(1001)}`;

describe('a job that was just submitted', () => {
  it('is indexed inside Redis, and one that has gone on is left', async () => {
    const { keys, position } = await begin();
    const { submit, take, ask, redis } = stage;
    const asked = await submit();
    await ask(await take());
    const plain = await submit({ apTransId: 'Z\u00fcrich "b"' });
    const read = await indexSubmitted(redis, keys, position, position, Date.now());
    expect(read?.ids).toEqual([asked]);
    expect(await stage.all({})).toMatchObject([
      { msspTransId: plain, apTransId: 'Z\u00fcrich "b"' },
    ]);
    const elsewhere = { ...position, writes: 99 };
    expect(await indexSubmitted(redis, keys, elsewhere, position, Date.now())).toBeUndefined();
  });

  it.each<readonly [form: string, data: string | object, by: 'script' | 'reader']>([
    ['in another order', sign(), 'script'],
    ['indented', JSON.stringify(sign(), null, 2), 'script'],
    [
      'with null, numbers and lists beside',
      sign({ a: null, b: [1.5e9, null], c: { d: true } }),
      'script',
    ],
    [
      'with escapes',
      sign({}, { AP_Info: { AP_ID: 'a"\\\t\u0001', AP_TransID: '\u0000x' } }),
      'script',
    ],
    ['with escaped names', JSON.stringify(sign()).replace('AP_ID', '\\u0041P_ID'), 'script'],
    [
      'with an escaped surrogate pair',
      JSON.stringify(sign()).replace('"T"', '"\\ud83d\\ude00"'),
      'script',
    ],
    [
      'with a long AP_TransID',
      sign({}, { AP_Info: { AP_ID: 'a', AP_TransID: 'é'.repeat(40) } }),
      'script',
    ],
    [
      'with a member twice',
      JSON.stringify(sign()).replace('{"AP_T', '{"AP_ID":"first","AP_T'),
      'script',
    ],
    ['of an unknown profile', sign({}, { SignatureProfile: 'STK-LoA4' }), 'script'],
    ['of a number without a plus', sign({}, { MobileUser: { MSISDN: '4179' } }), 'script'],
    ['with half a surrogate pair', JSON.stringify(sign()).replace('"T"', '"\\ud83d"'), 'reader'],
    ['of a number with letters', sign({}, { MobileUser: { MSISDN: '+41x' } }), 'reader'],
    ['of a number too long', sign({}, { MobileUser: { MSISDN: `+${'4'.repeat(16)}` } }), 'reader'],
    ['without a number', sign({}, { MobileUser: null }), 'reader'],
    ['with a list for a caller', sign({}, { AP_Info: ['mid://shop'] }), 'reader'],
    ['with a number for a name', sign({}, { AP_Info: { AP_ID: 7, AP_TransID: 'T' } }), 'reader'],
    ['with other members', sign({ transaction: { attempt: 2 } }), 'script'],
    ['too deeply nested', JSON.stringify(sign()).replace('"x"', nested), 'reader'],
    ['that is no object', '"text"', 'reader'],
    ['that is null', 'null', 'reader'],
    ['that is no JSON', `${JSON.stringify(sign())},`, 'reader'],
  ])('%s, gets the row that the reader makes of it', async (_, data, by) => {
    const { keys, position } = await begin();
    const { redis } = stage;
    const id = 'H00aaaaaaaaaaaaaaaaa';
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    await redis.hset(keys.signatures(id), { data: text, timestamp: 1_700_000_000_000 });
    await redis.xadd(keys.signatures('events'), '*', 'event', 'added', 'jobId', id);
    const read = await indexSubmitted(redis, keys, position, position, Date.now());
    expect(read?.ids).toEqual(by === 'reader' ? [id] : []);
    const entries = await readEntries(redis, keys, [id]);
    if (by === 'reader')
      await createIndexStore(redis, keys, Date.now).write(position, position, entries);
    const { facts, names } = keys.generation(position.generation);
    const [packed, rows] = [
      packEntries(entries),
      await Promise.all([facts(0), names(0)].map((key) => redis.getBuffer(key))),
    ];
    expect(rows[0]?.subarray(0, factsWidth)).toEqual(packed.subarray(0, factsWidth));
    expect(rows[1]?.subarray(0, namesWidth)).toEqual(packed.subarray(factsWidth));
  });
});
