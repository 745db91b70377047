/**
 * Where the next page begins: behind the last transaction of this one, in the order of a list. The order is by time of
 * submission, newest first; within one millisecond by shard and by number in the index, greatest first.
 */
export interface Place {
  readonly submittedAt: number;
  readonly shard: number;
  readonly number: number;
}

export const isBehind = (a: Place, b: Place): boolean => compare(a, b) > 0;

/** Newest first. */
export const compare = (a: Place, b: Place): number =>
  b.submittedAt - a.submittedAt || b.shard - a.shard || b.number - a.number;

/** Behind all that were submitted later, before all of that time. */
export const beginningAt = (submittedAt: number): Place => ({
  submittedAt,
  shard: Number.MAX_SAFE_INTEGER,
  number: 0,
});

export const cursorText = ({ submittedAt, shard, number }: Place): string =>
  [submittedAt, shard, number].map((part) => part.toString(36)).join('.');

/** @returns Undefined for a text that is no cursor. */
export const readCursor = (text: string): Place | undefined => {
  const [submittedAt, shard, number] =
    /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})$/
      .exec(text)
      ?.slice(1)
      .map((part) => Number.parseInt(part, 36)) ?? [];
  if (submittedAt === undefined || shard === undefined || number === undefined) return undefined;
  return { submittedAt, shard, number };
};
