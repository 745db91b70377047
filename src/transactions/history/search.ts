/**
 * Searches a page of a list, of transactions or of instances of workflows.
 *
 * Chunks of all shards are searched from the newest on; rows that may match are candidates. Chunks
 * are not quite in order: clocks differ, and a rebuild meets transactions by the time of their end.
 * So a candidate is ready when no chunk is left that could hold a newer one. Ready candidates are
 * read, of transactions from their jobs, which decide: the index may be a moment behind.
 *
 * One page searches a limited number of rows. If that does not fill it, it ends early, and its
 * cursor goes on from there. A chunk that the next page would have to search again does not count:
 * chunks that span much time, because of one old transaction among new ones, are all searched for
 * one page. So at least half of the chunks of a page that ends early need not be searched again.
 */
import { Buffer } from 'node:buffer';
import type { RedisClient } from '../../redis/connect.ts';
import type { GenerationKeys } from './keys.ts';
import { type Facts, type RowLayout, readFacts, rowsInChunk } from './layout.ts';
import { lookInNames, readChunks, readSpans, type Span } from './reading.ts';

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; absent on the last page. */
  readonly cursor?: string;
  /**
   * The number of rows that match. Present only where counting costs nothing: on a first page that
   * has searched all rows and needs to read no more of them, and without a filter.
   */
  readonly total?: number;
}

/** A shard of a list. */
export interface ListedShard<Row> {
  readonly redis: RedisClient;
  /** Where the rows are now; undefined before there is an index. */
  readonly generation: () => Promise<GenerationKeys | undefined>;
  /** Reads rows by their numbers; undefined for one that is gone. */
  readonly read: (
    generation: GenerationKeys,
    numbers: readonly number[],
  ) => Promise<readonly (Row | undefined)[]>;
}

/** What is searched for. */
export interface Wanted<Row> {
  readonly layout: RowLayout;
  /** Bytes to look for in the names. */
  readonly needle: Buffer | undefined;
  /** Begun at or after, and before; milliseconds since the epoch. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Whether anything narrows the list. */
  readonly isFiltered: boolean;
  /** Whether the index decides, so that rows that may match are those that do. */
  readonly isPacked: boolean;
  /** Whether a packed row may match, apart from the needle. */
  readonly mayMatch: (facts: Facts, row: number) => boolean;
  readonly matches: (row: Row) => boolean;
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

interface Opened<Row> extends Omit<ListedShard<Row>, 'generation'> {
  readonly generation: GenerationKeys;
}

const open = <Row>(
  shards: readonly ListedShard<Row>[],
): Promise<readonly (Opened<Row> | undefined)[]> =>
  Promise.all(
    shards.map(async (shard) => {
      const generation = await shard.generation();
      return generation && { ...shard, generation };
    }),
  );

/** @returns The rows of a chunk that may match, in order. Some may not match. */
const findRows = <Row>(
  { layout: { namesWidth }, needle, mayMatch }: Wanted<Row>,
  facts: Facts,
  names: Buffer,
): readonly number[] => {
  const rows: number[] = [];
  for (let row = 0; row < facts.count; row += 1) {
    if (needle !== undefined) {
      const found = names.indexOf(needle, row * namesWidth);
      if (found === -1) break;
      row = Math.floor(found / namesWidth);
    }
    if (row < facts.count && mayMatch(facts, row)) rows.push(row);
  }
  return rows;
};

/** Chunks that may hold rows of the filter behind the cursor, those with the newest rows first. */
const findChunks = async <Row>(
  opened: readonly (Opened<Row> | undefined)[],
  { from, to }: Wanted<Row>,
  start: Place | undefined,
): Promise<readonly Chunk[]> => {
  const spans = await Promise.all(
    opened.map(async (shard) =>
      shard === undefined ? [] : readSpans(shard.redis, shard.generation),
    ),
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

const searchOnce = async <Row>(
  opened: readonly (Opened<Row> | undefined)[],
  wanted: Wanted<Row>,
  limit: number,
  start: Place | undefined,
): Promise<Page<Row> & { readonly missing: boolean }> => {
  const { layout, needle, isPacked, matches } = wanted;
  const chunks = await findChunks(opened, wanted, start);
  const rows: Row[] = [];
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
    handle: (shard: Opened<Row>, mine: readonly T[]) => Promise<void>,
  ): Promise<unknown> =>
    Promise.all(
      opened.map(async (shard, index) => {
        const mine = all.filter((each) => each.shard === index);
        if (shard !== undefined && mine.length > 0) await handle(shard, mine);
      }),
    );

  const scan = (some: readonly Chunk[]) =>
    byShard(some, async ({ redis, generation }, listed) => {
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
        const facts = readFacts(layout, bytes);
        for (const row of findRows(wanted, facts, names)) {
          const place = {
            submittedAt: facts.read(layout.begunAt, row),
            shard,
            number: chunk * rowsInChunk + row,
          };
          if (start === undefined || compare(place, start) > 0) waiting.push(place);
        }
      }
    });

  /** Reads the jobs of candidates. @returns The number of candidates that were used. */
  const take = async (ready: readonly Place[]): Promise<number> => {
    const found = new Map<Place, Row | undefined>();
    await byShard(ready, async ({ generation, read: readAll }, mine) => {
      const numbers = mine.map(({ number }) => number);
      const read = await readAll(generation, numbers);
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
        ...(seenAll &&
          start === undefined &&
          (!more || isPacked) && { total: more ? candidates : rows.length }),
      };
    }
  }
};

/** @returns Undefined when the cursor is malformed. */
export const search = async <Row>(
  shards: readonly ListedShard<Row>[],
  wanted: Wanted<Row>,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<Row> | undefined> => {
  const start = page.cursor === undefined ? undefined : readCursor(page.cursor);
  if (page.cursor !== undefined && start === undefined) return undefined;
  for (let round = 1; ; round += 1) {
    const opened = await open(shards);
    const { missing, ...found } = await searchOnce(opened, wanted, page.limit, start);
    if (missing && round < maxRounds) {
      // A rebuild may just have replaced the generation that was being read.
      const since = await open(shards);
      if (opened.some((shard, index) => shard?.generation.base !== since[index]?.generation.base))
        continue;
    }
    if (wanted.isFiltered || start !== undefined) return found;
    const counts = await Promise.all(
      opened.map((shard) => (shard === undefined ? 0 : shard.redis.hlen(shard.generation.at))),
    );
    return { ...found, total: counts.reduce((sum, count) => sum + count, 0) };
  }
};

export const isFiltered = (filter: object): boolean =>
  Object.values(filter).some((value) => value !== undefined && value !== '');
