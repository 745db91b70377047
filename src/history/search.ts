/**
 * Searches a page of transactions.
 *
 * Chunks of all shards are searched from the newest on; rows that may match are candidates. Chunks
 * are not quite in order: clocks differ, and a rebuild meets transactions by the time of their end.
 * So a candidate is ready when no chunk is left that could hold a newer one. Ready candidates are
 * read from their jobs, which decide: the index may be a moment behind.
 *
 * One page searches a limited number of rows. If that does not fill it, it ends early, and its
 * cursor goes on from there. A chunk that the next page would have to search again does not count:
 * chunks that span much time, because of one old transaction among new ones, are all searched for
 * one page. So at least half of the chunks of a page that ends early need not be searched again.
 */
import type { RedisClient } from '../redis/connect.ts';
import { createMatcher, findRows, type HistoryFilter, type Retention, toNeedle } from './filter.ts';
import type { GenerationKeys, ShardKeys } from './keys.ts';
import { readFacts, rowsInChunk, transactionFacts } from './packed-row.ts';
import { readPosition } from './position.ts';
import { lookInNames, readChunks, readNumbered, readSpans, type Span } from './reading.ts';
import type { TransactionRow } from './row.ts';

export interface Page {
  readonly rows: readonly TransactionRow[];
  /** The cursor of the next page; absent on the last page. */
  readonly cursor?: string;
  /**
   * The number of transactions in the index that match. Present only where counting costs nothing:
   * on a first page that has searched all rows, and without a filter.
   */
  readonly total?: number;
}

interface SearchOptions {
  readonly redis: RedisClient;
  readonly shards: readonly ShardKeys[];
  readonly retention: Retention;
  readonly now: () => number;
}

/** Chunks of a page: 400 000 rows, 16 MB of facts. More if the next page would repeat over half. */
const maxChunks = 400;
/** Jobs that are read for a page when most are gone; also the maximum of kept candidates. */
const maxReads = 2000;
const readsAtOnce = 50;
/** Chunks of the first read; each further read doubles them, as most pages need only a few. */
const firstChunks = 2;
const chunksAtOnce = 32;
const maxRounds = 3;

/** A place in the list, which is the order of submission; the newest comes first. */
interface Place {
  readonly submittedAt: number;
  readonly shard: number;
  readonly number: number;
}

const compare = (a: Place, b: Place): number =>
  b.submittedAt - a.submittedAt || b.shard - a.shard || b.number - a.number;

/** Writes a cursor: the last place of a page. */
const writeCursor = ({ submittedAt, shard, number }: Place): string =>
  [submittedAt, shard, number].map((part) => part.toString(36)).join('.');

const readCursor = (text: string): Place | undefined => {
  if (!/^[0-9a-z]{1,11}(\.[0-9a-z]{1,11}){2}$/.test(text)) return undefined;
  const [submittedAt = 0, shard = 0, number = 0] = text
    .split('.')
    .map((part) => Number.parseInt(part, 36));
  return { submittedAt, shard, number };
};

interface Chunk extends Span {
  readonly shard: number;
}

interface Opened {
  readonly keys: ShardKeys;
  readonly generation: GenerationKeys;
}

const open = async ({ redis, shards }: SearchOptions): Promise<readonly (Opened | undefined)[]> =>
  Promise.all(
    shards.map(async (keys) => {
      const position = readPosition(await redis.hget(keys.state, 'position'));
      return position && { keys, generation: keys.generation(position.generation) };
    }),
  );

/** Chunks that may hold rows of the filter behind the cursor, those with the newest rows first. */
const findChunks = async (
  redis: RedisClient,
  opened: readonly (Opened | undefined)[],
  { from, to }: HistoryFilter,
  start: Place | undefined,
): Promise<readonly Chunk[]> => {
  const spans = await Promise.all(
    opened.map(async (shard) => (shard === undefined ? [] : readSpans(redis, shard.generation))),
  );
  return spans
    .flatMap((ofShard, shard) => ofShard.map((span) => ({ ...span, shard })))
    .filter(
      ({ least }) => (to === undefined || least < to) && (!start || least <= start.submittedAt),
    )
    .filter(({ greatest }) => from === undefined || greatest >= from)
    .sort((a, b) => b.greatest - a.greatest);
};

/** Whether a page may end: it has searched many chunks, and most have nothing left for the next. */
const isEnough = (chunks: readonly Chunk[], scanned: number, unseen: number): boolean =>
  scanned >= maxChunks &&
  chunks.slice(0, scanned).filter(({ least }) => least > unseen).length >= scanned / 2;

const searchOnce = async (
  { redis, retention, now }: SearchOptions,
  opened: readonly (Opened | undefined)[],
  filter: HistoryFilter,
  limit: number,
  start: Place | undefined,
): Promise<Page & { readonly missing: boolean }> => {
  const { mayMatch, matches } = createMatcher(filter, retention, now());
  const needle = toNeedle(filter);
  const chunks = await findChunks(redis, opened, filter, start);
  const rows: TransactionRow[] = [];
  let waiting: Place[] = [];
  let candidates = 0;
  /** The number of candidates that have been read. */
  let passed = 0;
  let scanned = 0;
  let last: Place | undefined;
  let reads = 0;
  /** Whether something that was listed was not found. */
  let missing = false;

  const byShard = <T extends { readonly shard: number }>(
    all: readonly T[],
    handle: (shard: Opened, mine: readonly T[]) => Promise<void>,
  ): Promise<unknown> =>
    Promise.all(
      opened.map(async (shard, index) => {
        const mine = all.filter((each) => each.shard === index);
        if (shard !== undefined && mine.length > 0) await handle(shard, mine);
      }),
    );

  const scan = (some: readonly Chunk[]) =>
    byShard(some, async ({ generation }, listed) => {
      let mine = listed;
      if (needle !== undefined) {
        const numbers = listed.map(({ chunk }) => chunk);
        const looked = await lookInNames(redis, generation, numbers, needle);
        if (looked.includes('gone')) missing = true;
        mine = listed.filter((_, index) => looked[index] === 'held');
      }
      const numbers = mine.map(({ chunk }) => chunk);
      const read = await readChunks(redis, generation, numbers, needle !== undefined);
      for (const [index, { shard, chunk }] of mine.entries()) {
        const { facts: bytes, names } = read[index] ?? { facts: Buffer.of(), names: Buffer.of() };
        if (bytes.length === 0) missing = true;
        const facts = readFacts(bytes);
        for (const row of findRows(facts, names, needle, mayMatch)) {
          const place = {
            submittedAt: facts.read(transactionFacts.submittedAt, row),
            shard,
            number: chunk * rowsInChunk + row,
          };
          if (start === undefined || compare(place, start) > 0) waiting.push(place);
        }
      }
    });

  /** Reads the jobs of candidates. @returns The number of candidates that were used. */
  const take = async (ready: readonly Place[]): Promise<number> => {
    const found = new Map<Place, TransactionRow | undefined>();
    await byShard(ready, async ({ keys, generation }, mine) => {
      const numbers = mine.map(({ number }) => number);
      const read = await readNumbered(redis, keys, generation, numbers);
      for (const [index, candidate] of mine.entries()) found.set(candidate, read[index]);
    });
    for (const [index, candidate] of ready.entries()) {
      if (rows.length >= limit) return index;
      const row = found.get(candidate);
      if (row === undefined) missing = true;
      else if (matches(row)) rows.push(row);
      last = candidate;
    }
    return ready.length;
  };

  for (let many = firstChunks; ; many = Math.min(many * 2, chunksAtOnce)) {
    const next = chunks.slice(scanned, scanned + many);
    scanned += next.length;
    const before = waiting.length;
    await scan(next);
    candidates += waiting.length - before;
    waiting = waiting.sort(compare).slice(0, maxReads);
    const unseen = chunks[scanned]?.greatest ?? Number.NEGATIVE_INFINITY;
    const unready = waiting.findIndex(({ submittedAt }) => submittedAt <= unseen);
    const ready = unready === -1 ? waiting.length : unready;
    let taken = 0;
    while (rows.length < limit && taken < ready && reads < maxReads) {
      // When some jobs were gone, many may be: then more are read than the page needs.
      const many = reads === 0 ? limit : Math.max(limit - rows.length, readsAtOnce);
      const some = waiting.slice(taken, Math.min(taken + many, ready));
      reads += some.length;
      taken += await take(some);
    }
    waiting = waiting.slice(taken);
    passed += taken;
    const seenAll = scanned === chunks.length;
    const isFull = rows.length >= limit || reads >= maxReads;
    if (isFull || seenAll || isEnough(chunks, scanned, unseen)) {
      const more = candidates > passed || !seenAll;
      // Otherwise the next page begins with the transactions of the newest time not searched yet.
      const goOn = isFull
        ? last
        : { submittedAt: unseen, shard: Number.MAX_SAFE_INTEGER, number: 0 };
      return {
        rows,
        missing,
        ...(more && goOn !== undefined && { cursor: writeCursor(goOn) }),
        ...(seenAll && start === undefined && { total: candidates }),
      };
    }
  }
};

/** @returns Undefined when the cursor is malformed. */
export const search = async (
  options: SearchOptions,
  filter: HistoryFilter,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page | undefined> => {
  const start = page.cursor === undefined ? undefined : readCursor(page.cursor);
  if (page.cursor !== undefined && start === undefined) return undefined;
  for (let round = 1; ; round += 1) {
    const opened = await open(options);
    const { missing, ...found } = await searchOnce(options, opened, filter, page.limit, start);
    if (missing && round < maxRounds) {
      // A rebuild may just have replaced the generation that was being read.
      const since = await open(options);
      if (opened.some((shard, index) => shard?.generation.base !== since[index]?.generation.base))
        continue;
    }
    const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '');
    if (isFiltered || start !== undefined) return found;
    const counts = await Promise.all(
      opened.map((shard) => (shard === undefined ? 0 : options.redis.hlen(shard.generation.at))),
    );
    return { ...found, total: counts.reduce((sum, count) => sum + count, 0) };
  }
};
