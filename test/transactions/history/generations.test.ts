/** What becomes of the index when a rebuild, or a process, is cut off at a bad moment. */
import { hash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createIndexStore,
  type IndexStore,
} from '../../../src/transactions/history/index-store.ts';
import { type ShardKeys, shardKeys } from '../../../src/transactions/history/keys.ts';
import { layout, packEntries } from '../../../src/transactions/history/packed-row.ts';
import { type Position, positionText } from '../../../src/transactions/history/position.ts';
import type { TransactionRow } from '../../../src/transactions/history/row.ts';
import { testRedis } from '../../support/redis.ts';
import { dayMs, retention, type Stage, startStage } from './stage.ts';

const test = testRedis();
let stage: Stage;
afterEach(async () => {
  await stage.close();
  expect(stage.errors).toEqual([]);
});

interface Indexed extends Stage {
  readonly keys: ShardKeys;
  readonly store: IndexStore;
}

/** With three transactions in the index, and no process that follows. */
const begin = async (now: () => number = Date.now): Promise<Indexed> => {
  stage = await startStage(test, { now });
  const indexer = stage.indexer();
  for (const apTransId of ['A', 'B', 'C']) await stage.submit({ apTransId });
  await indexer.idle();
  await indexer.close();
  const keys = shardKeys(stage.prefix, 0);
  return { ...stage, keys, store: createIndexStore(stage.redis, keys, now) };
};

const listed = async (): Promise<readonly string[]> =>
  (await stage.all({})).map(({ apTransId }) => apTransId).sort();

const left = async (keys: ShardKeys): Promise<readonly string[]> =>
  (await stage.redis.hkeys(keys.state)).filter((field) => field.startsWith('left:'));

const exists = async (keys: ShardKeys, generation: number): Promise<number> => {
  const { at, meta, spans, facts, names } = keys.generation(generation);
  return stage.redis.exists(at, meta, spans, facts(0), names(0));
};

describe('a rebuild', () => {
  it('stands when the index before it cannot be removed, and the next sweep removes that', async () => {
    const { keys, redis, history } = await begin();
    const { spans } = keys.generation(1);
    await redis.rename(spans, `${spans}-away`);
    await redis.set(spans, 'not to be read');
    expect(await history.rebuild()).toEqual({ indexed: 3 });
    expect(await listed()).toEqual(['A', 'B', 'C']);
    expect(await left(keys)).toEqual(['left:1']);
    await redis.rename(`${spans}-away`, spans);
    await stage.indexer().sweep();
    expect(await exists(keys, 1)).toBe(0);
    expect(await left(keys)).toEqual([]);
    expect(await listed()).toEqual(['A', 'B', 'C']);
  });

  it('stands when the switch to it is sent twice, and when it is given up afterwards', async () => {
    const { keys, store, history } = await begin();
    await history.rebuild();
    const position = await store.position();
    const { generation } = position as Position;
    expect(await store.use({ ...(position as Position), signatures: '9-9' })).toBe(true);
    expect(positionText((await store.position()) as Position)).toBe(
      positionText(position as Position),
    );
    await store.giveUp(generation);
    await store.removeLeft();
    expect(await exists(keys, generation)).toBe(5);
    expect(await listed()).toEqual(['A', 'B', 'C']);
  });

  it('removes what one before it left when its process died right after the switch', async () => {
    const { keys, store, history } = await begin();
    const generation = await store.beginGeneration();
    const position = (await store.position()) as Position;
    expect(await store.use({ ...position, generation })).toBe(true);
    expect(await exists(keys, 1)).toBe(5);
    await history.rebuild();
    expect(await exists(keys, 1)).toBe(0);
    expect(await left(keys)).toEqual([]);
    expect(await listed()).toEqual(['A', 'B', 'C']);
  });

  it('counts each transaction once, also those at the end of a read that the next one meets again', async () => {
    const { history, redis } = await begin();
    const [queue] = stage.queues;
    await queue?.addBulk(Array.from({ length: 1100 }, () => stage.jobOf({})));
    const key = queue?.toKey('wait') ?? '';
    const ids = await redis.lrange(key, 0, -1);
    // All end in two milliseconds, more than one read in all.
    await redis.zadd(
      queue?.toKey('completed') ?? '',
      ...ids.flatMap((id, at) => [at < 900 ? 1 : 2, id]),
    );
    await redis.del(key);
    const said: number[] = [];
    expect(await history.rebuild(({ indexed }) => said.push(indexed))).toEqual({ indexed: 1103 });
    expect(said.at(-1)).toBe(1103);
  });

  it('is not put to use once another one has begun', async () => {
    const { store, history } = await begin();
    const generation = await store.beginGeneration();
    await history.rebuild();
    const position = (await store.position()) as Position;
    expect(await store.use({ ...position, generation })).toBe(false);
    expect(await listed()).toEqual(['A', 'B', 'C']);
  });
});

describe('what is over', () => {
  it('is taken out every hour, however often processes come and go', async () => {
    let later = 0;
    const now = (): number => Date.now() + later;
    const { keys, redis, fail, take } = await begin(now);
    await fail(await take(), 401);
    const rows = (): Promise<number> => redis.hlen(keys.generation(1).at);
    const begun = await redis.hget(keys.state, 'swept');
    const second = stage.indexer({ now });
    await second.idle();
    await second.close();
    expect(await redis.hget(keys.state, 'swept')).toBe(begun);
    later = retention.failedMs + dayMs;
    stage.indexer({ now });
    await vi.waitFor(async () => expect(await rows()).toBe(2), { timeout: 20_000 });
  });
});

/** As charts in test/machines/versions.test.ts: an index in other bytes must not be read. */
describe('a layout', () => {
  it('is another one when its bytes change: raise `layout` and write down its new hash', async () => {
    stage = await startStage(test);
    const row: Required<TransactionRow> = {
      msspTransId: 'H00aaaaaaaaaaaaaaaaa',
      apId: 'mid://shop.example',
      apTransId: 'ORDER-1',
      msisdn: '41790000001',
      profile: 'STK-LoA4',
      state: 'failed',
      fault: { code: 401, reason: 'USER_CANCEL', detail: 'User cancelled the request' },
      attempt: 3,
      submittedAt: 1_900_000_000_000,
      endedAt: 1_900_000_060_000,
      tookMs: 60_000,
    };
    const bytes = packEntries([{ id: row.msspTransId, row }]);
    expect({ layout, hash: hash('sha256', bytes) }).toEqual({
      layout: 2,
      hash: 'c5ec7f8d10081217c2aba4bde18b5c7c2d53244782d8a81807f6d70ce0a59bcd',
    });
  });
});
