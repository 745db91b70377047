/**
 * An index in which every chunk holds one transaction that is far older than its neighbours, as
 * after a rebuild.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shardKeys } from '../../../src/transactions/history/keys.ts';
import { packRow, rowsInChunk } from '../../../src/transactions/history/layout.ts';
import {
  factsWidth,
  namesWidth,
  packNames,
  transactionFacts,
} from '../../../src/transactions/history/packed-row.ts';
import { positionText } from '../../../src/transactions/history/position.ts';
import type { TransactionRow } from '../../../src/transactions/history/row.ts';
import { newMsspTransId } from '../../../src/transactions/ids.ts';
import { testRedis } from '../../support/redis.ts';
import { dayMs, type Stage, startStage } from './stage.ts';

const test = testRedis();
/** A page goes through 400. */
const chunks = 450;
const newest = Date.now() - dayMs;
const oldest = newest - 5 * dayMs;
let stage: Stage;

const rowOf = (apId: string, submittedAt: number): TransactionRow => ({
  msspTransId: newMsspTransId(0),
  apId,
  apTransId: 'T',
  msisdn: '41790000000',
  profile: undefined,
  state: 'submitted',
  attempt: 1,
  submittedAt,
});

/** Two rows to a chunk, where the index would have a thousand. */
const writeChunks = async (apIdOfOld: string): Promise<void> => {
  const keys = shardKeys(stage.prefix, 0);
  const { facts, names, spans } = keys.generation(1);
  const pipeline = stage.redis.pipeline();
  const jobs = [];
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const [old, recent] = [
      rowOf(apIdOfOld, oldest + chunk),
      rowOf('mid://busy', newest + chunk * 1000),
    ];
    const packed = { facts: Buffer.alloc(2 * factsWidth), names: Buffer.alloc(2 * namesWidth) };
    for (const [index, row] of [old, recent].entries()) {
      packRow(transactionFacts, row, packed.facts, index * factsWidth);
      packNames(row.msspTransId, row.apTransId, packed.names, index * namesWidth);
    }
    pipeline.set(facts(chunk), packed.facts);
    pipeline.set(names(chunk), packed.names);
    pipeline.hset(spans, String(chunk), `${old.submittedAt} ${recent.submittedAt}`);
    for (const { msspTransId: id, apId, submittedAt: timestamp } of [old, recent]) {
      jobs.push(stage.jobOf({ id, apId, timestamp }));
    }
  }
  const position = { generation: 1, signatures: '0-0', receipts: '0-0', writes: 0 };
  pipeline.hset(keys.state, 'position', positionText(position));
  await pipeline.exec();
  await stage.queues[0]?.addBulk(jobs);
};

/** Page by page, as far as so many pages lead. */
const found = async (apId: string, limit: number, maxPages: number) => {
  const rows: TransactionRow[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= maxPages; page += 1) {
    const read = await stage.history.search({ apId }, { limit, cursor });
    rows.push(...(read?.rows ?? []));
    cursor = read?.cursor;
    if (cursor === undefined) return rows.map(({ submittedAt }) => submittedAt);
  }
  throw new Error('the pages do not end');
};

const newestFirst = (time: (chunk: number) => number): number[] =>
  Array.from({ length: chunks }, (_, index) => time(chunks - 1 - index));

beforeAll(async () => {
  stage = await startStage(test);
  await writeChunks('mid://rare');
});
afterAll(() => stage.close());

describe('a search over more chunks than a page goes through, which all span much time', () => {
  it('comes to an end where nothing is found', async () => {
    expect(rowsInChunk * chunks).toBeGreaterThan(400_000);
    expect(await found('mid://nobody', 50, 3)).toEqual([]);
  });

  it('finds the old ones, each once and in order, on pages that are full', async () => {
    expect(await found('mid://rare', 100, 5)).toEqual(newestFirst((chunk) => oldest + chunk));
  });

  it('finds the new ones', async () => {
    expect(await found('mid://busy', 100, 6)).toEqual(
      newestFirst((chunk) => newest + chunk * 1000),
    );
  });
});
