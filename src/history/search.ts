/**
 * A page of transactions.
 *
 * Chunks are gone through from the newest on, those of all shards together; what may match is a candidate. A candidate's
 * turn has come when no chunk is left that could hold a newer one, since chunks are not quite in order: clocks differ, and
 * a rebuild meets transactions by the time of their end. Whose turn has come is read from its job, which decides: the
 * index may be a moment behind, and the row that is shown is always that of now.
 *
 * One page goes through a limited number of rows. When nothing more was found in them, the page ends early and its cursor
 * goes on from there. What the next page would have to go through again counts against that: chunks that span much time, by
 * one old transaction among new ones, are gone through in one page, however many they are. So every page comes further, and
 * one that ends early leaves half of what it went through behind.
 */
import type { RedisClient } from '../redis/connect.ts';
import { beginningAt, compare, cursorText, isBehind, type Place, readCursor } from './cursor.ts';
import {
  factsTest,
  type HistoryFilter,
  matches,
  needleOf,
  type Retention,
  rowsLike,
  rowsWith,
} from './filter.ts';
import type { GenerationKeys, ShardKeys } from './keys.ts';
import { type Facts, factsIn, rowsInChunk } from './packed-row.ts';
import { readPosition } from './position.ts';
import { lookInNames, readChunks, readNumbered, readSpans, type Span } from './reading.ts';
import type { TransactionRow } from './row.ts';

export interface Page {
  readonly rows: readonly TransactionRow[];
  /** Of the next page; absent when this was the last one. */
  readonly cursor?: string;
  /**
   * How many the index has by this filter, this page and all others. Only where finding out cost nothing: on a first page
   * for which all rows were gone through, or of all transactions.
   */
  readonly total?: number;
}

export interface SearchOptions {
  readonly redis: RedisClient;
  readonly shards: readonly ShardKeys[];
  readonly retention: Retention;
  readonly now: () => number;
}

/** 400 000 rows: 16 MB of facts. More when the next page would not be spared half of them. */
const chunksForPage = 400;
/** Jobs that are read for a page, when most of them turn out to be gone; so many candidates are kept at most. */
const readsForPage = 2000;
const readsAtOnce = 50;
/** Read together; each time twice as many, since most pages are full after the first few. */
const firstChunks = 2;
const mostChunks = 32;
const generationChangesAtMost = 3;

type Candidate = Place;

interface ChunkAt extends Span {
  readonly shard: number;
}

interface Opened {
  readonly keys: ShardKeys;
  readonly position: number;
  readonly generation: GenerationKeys;
}

const isEmptyFilter = (filter: HistoryFilter): boolean =>
  Object.values(filter).every((value) => value === undefined || value === '');

const open = async ({ redis, shards }: SearchOptions): Promise<readonly (Opened | undefined)[]> =>
  Promise.all(
    shards.map(async (keys) => {
      const position = readPosition(await redis.hget(keys.state, 'position'))?.generation;
      return position === undefined ? undefined : { keys, position, generation: keys.generation(position) };
    }),
  );

/** Chunks that may hold rows of the filter behind the cursor, those with the newest rows first. */
const chunksFor = async (
  redis: RedisClient,
  opened: readonly (Opened | undefined)[],
  { from, to }: HistoryFilter,
  start: Place | undefined,
): Promise<readonly ChunkAt[]> => {
  const spans = await Promise.all(
    opened.map(async (shard) => (shard === undefined ? [] : readSpans(redis, shard.generation))),
  );
  return spans
    .flatMap((ofShard, shard) => ofShard.map((span) => ({ ...span, shard })))
    .filter(({ least }) => (to === undefined || least < to) && (!start || least <= start.submittedAt))
    .filter(({ greatest }) => from === undefined || greatest >= from)
    .sort((a, b) => b.greatest - a.greatest);
};

/** Whether a page may end: it has gone through many chunks, and most of them have nothing left for the next one. */
const isEnough = (chunks: readonly ChunkAt[], scanned: number, unseen: number): boolean =>
  scanned >= chunksForPage &&
  chunks.slice(0, scanned).filter(({ least }) => least > unseen).length >= scanned / 2;

const candidatesIn = (
  facts: Facts,
  rows: readonly number[],
  { shard, chunk }: ChunkAt,
  start: Place | undefined,
): Candidate[] => {
  const found: Candidate[] = [];
  for (const row of rows) {
    const place = {
      submittedAt: facts.submittedAt(row),
      shard,
      number: chunk * rowsInChunk + row,
    };
    if (start === undefined || isBehind(place, start)) found.push(place);
  }
  return found;
};

const searchOnce = async (
  options: SearchOptions,
  opened: readonly (Opened | undefined)[],
  filter: HistoryFilter,
  limit: number,
  start: Place | undefined,
): Promise<Page & { readonly missing: boolean }> => {
  const { redis, retention, now } = options;
  const time = now();
  const test = factsTest(filter, retention, time);
  const needle = needleOf(filter);
  const chunks = await chunksFor(redis, opened, filter, start);
  const rows: TransactionRow[] = [];
  let waiting: Candidate[] = [];
  let candidates = 0;
  /** Of them those whose turn is over. */
  let passed = 0;
  let scanned = 0;
  let last: Place | undefined;
  let reads = 0;
  /** Something that was listed was not there. */
  let missing = false;

  const holding = async (shard: Opened, some: readonly ChunkAt[], text: Buffer): Promise<ChunkAt[]> => {
    if (some.length === 0) return [];
    const numbers = some.map(({ chunk }) => chunk);
    const looked = await lookInNames(redis, shard.generation, numbers, text);
    if (looked.includes('gone')) missing = true;
    return some.filter((_, index) => looked[index] === 'held');
  };

  const scan = async (some: readonly ChunkAt[]): Promise<void> => {
    await Promise.all(
      opened.map(async (shard, index) => {
        let mine = some.filter((chunk) => chunk.shard === index);
        if (shard === undefined) return;
        if (needle !== undefined) mine = await holding(shard, mine, needle);
        if (mine.length === 0) return;
        const numbers = mine.map(({ chunk }) => chunk);
        const read = await readChunks(redis, shard.generation, numbers, needle !== undefined);
        for (const [number, { facts: bytes, names }] of read.entries()) {
          const at = mine[number];
          if (at === undefined) continue;
          if (bytes.length === 0) missing = true;
          const facts = factsIn(bytes);
          const among = needle && rowsWith(names, needle);
          waiting.push(...candidatesIn(facts, rowsLike(facts, test, among), at, start));
        }
      }),
    );
  };

  /** Reads the jobs of those whose turn has come. @returns How many were needed to fill the page. */
  const take = async (ready: readonly Candidate[]): Promise<number> => {
    const found = new Map<Candidate, TransactionRow | undefined>();
    await Promise.all(
      opened.map(async (shard, index) => {
        const mine = ready.filter((candidate) => candidate.shard === index);
        if (shard === undefined || mine.length === 0) return;
        const numbers = mine.map(({ number }) => number);
        const read = await readNumbered(redis, shard.keys, shard.generation, numbers);
        for (const [number, candidate] of mine.entries()) found.set(candidate, read[number]);
      }),
    );
    for (const [index, candidate] of ready.entries()) {
      if (rows.length >= limit) return index;
      const row = found.get(candidate);
      if (row === undefined) missing = true;
      else if (matches(filter, row, retention, time)) rows.push(row);
      last = candidate;
    }
    return ready.length;
  };

  for (let many = firstChunks; ; many = Math.min(many * 2, mostChunks)) {
    const next = chunks.slice(scanned, scanned + many);
    scanned += next.length;
    const before = waiting.length;
    await scan(next);
    candidates += waiting.length - before;
    waiting.sort(compare);
    waiting = waiting.slice(0, readsForPage);
    const unseen = chunks[scanned]?.greatest ?? Number.NEGATIVE_INFINITY;
    let turns = waiting.findIndex(({ submittedAt }) => submittedAt <= unseen);
    if (turns === -1) turns = waiting.length;
    let taken = 0;
    while (rows.length < limit && taken < turns && reads < readsForPage) {
      // When some were gone, many may be: then more are read than are wanted.
      const some = reads === 0 ? limit : Math.max(limit - rows.length, readsAtOnce);
      const next = waiting.slice(taken, Math.min(taken + some, turns));
      reads += next.length;
      taken += await take(next);
    }
    waiting = waiting.slice(taken);
    passed += taken;
    const seenAll = scanned === chunks.length;
    const isFull = rows.length >= limit || reads >= readsForPage;
    if (isFull || seenAll || isEnough(chunks, scanned, unseen)) {
      const more = candidates > passed || !seenAll;
      const goOn = isFull ? last : beginningAt(unseen);
      const total = seenAll && start === undefined ? candidates : undefined;
      return {
        rows,
        missing,
        ...(more && goOn !== undefined && { cursor: cursorText(goOn) }),
        ...(total !== undefined && { total }),
      };
    }
  }
};

/** @returns Undefined when the cursor is none. */
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
    if (missing && round < generationChangesAtMost) {
      // Perhaps a rebuild has ended meanwhile and has taken away what was being read.
      const since = await open(options);
      if (opened.some((shard, index) => shard?.position !== since[index]?.position)) continue;
    }
    if (!isEmptyFilter(filter) || start !== undefined) return found;
    const counts = await Promise.all(
      opened.map((shard) => (shard === undefined ? 0 : options.redis.hlen(shard.generation.at))),
    );
    return { ...found, total: counts.reduce((sum, count) => sum + count, 0) };
  }
};
