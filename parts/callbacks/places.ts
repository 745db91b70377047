/**
 * Callbacks of all shards by BullMQ's sets of jobs, merged, the highest score first: the newest of
 * the failed (dead) ones, and of the delayed ones (tried again) the one with the latest next try,
 * which mostly has failed most often.
 *
 * A page begins after a place, which is a score and an id. So replays and new dead callbacks move
 * no other row while an operator turns pages.
 */
import type { RedisClient } from '../../src/redis/connect.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { callbacksOf } from './queue.ts';

/** The sets of BullMQ that are read. */
export type WalkedSet = 'failed' | 'delayed';

export interface Place {
  /** The score in the set: the time of death in milliseconds or, in `delayed`, BullMQ's score. */
  readonly at: number;
  readonly id: string;
}

/** Compares places like Redis, which orders ids of the same millisecond descending. */
const compare = (a: Place, b: Place): number =>
  b.at - a.at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);

export const cursorText = ({ at, id }: Place): string => `${at.toString(36)}.${id}`;

/** @returns Undefined for an invalid cursor. */
export const readCursor = (text: string): Place | undefined => {
  const [, at, id] = /^([0-9a-z]{1,11})\.([\x21-\x7e]{0,80})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number.parseInt(at, 36), id };
};

/** The place before all callbacks that died at this time or earlier. @param at Milliseconds. */
export const diedBefore = (at: number): Place => ({ at, id: '' });

const readAtOnce = 500;

interface Found {
  readonly places: readonly Place[];
  /** Whether there are more after the last one. */
  readonly more: boolean;
}

const nextOf = async (
  redis: RedisClient,
  shard: Shard,
  set: WalkedSet,
  from: Place | undefined,
): Promise<Found> => {
  const { queue } = callbacksOf(shard);
  const latest = from === undefined ? '+inf' : String(from.at);
  // A first page may hold only ones of the same millisecond that were seen before.
  for (let skip = 0; ; skip += readAtOnce) {
    const found = await redis.zrange(
      queue.toKey(set),
      latest,
      '-inf',
      'BYSCORE',
      'REV',
      'LIMIT',
      skip,
      readAtOnce,
      'WITHSCORES',
    );
    const all = found.flatMap((id, index) =>
      index % 2 === 0 ? [{ id, at: Number(found[index + 1]) }] : [],
    );
    const places = from === undefined ? all : all.filter((place) => compare(place, from) > 0);
    const more = all.length === readAtOnce;
    if (places.length > 0 || !more) return { places, more };
  }
};

/** Yields places in batches, each after the one before. */
export async function* walkSet(
  redis: RedisClient,
  shards: readonly Shard[],
  set: WalkedSet,
  from?: Place | undefined,
): AsyncGenerator<readonly Place[]> {
  let behind = from;
  for (;;) {
    const place = behind;
    const found = await Promise.all(shards.map((shard) => nextOf(redis, shard, set, place)));
    const all = found.flatMap(({ places }) => places).toSorted(compare);
    // A shard with more rows may have some that come before the last ones of other shards.
    const [end] = found
      .flatMap(({ places, more }) => (more ? places.slice(-1) : []))
      .toSorted(compare);
    yield end === undefined ? all : all.filter((each) => compare(each, end) <= 0);
    if (end === undefined) return;
    behind = end;
  }
}
