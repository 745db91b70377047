/**
 * The position of the index of a shard: the generation in use, and the last event of each of the
 * two queues that it contains.
 *
 * It is one text, compared and replaced in one step: a writer names the position at which it began,
 * and writes nothing when another one has written since. The count of writes distinguishes
 * positions that are otherwise the same.
 */
export interface Position extends EventPosition {
  readonly generation: number;
  readonly writes: number;
}

/** Ids in the event streams of the two queues; `0-0` before the first. */
export interface EventPosition {
  readonly signatures: string;
  readonly receipts: string;
}

export const beginning = '0-0';

export const positionText = ({ generation, signatures, receipts, writes }: Position): string =>
  `${generation} ${signatures} ${receipts} ${writes}`;

/** @returns Undefined for a missing or malformed text. */
export const readPosition = (text: string | null | undefined): Position | undefined => {
  const [, generation, signatures, receipts, writes] =
    /^(\d+) (\d+-\d+) (\d+-\d+) (\d+)$/.exec(text ?? '') ?? [];
  if (signatures === undefined || receipts === undefined) return undefined;
  return { generation: Number(generation), signatures, receipts, writes: Number(writes) };
};

const readId = (id: string): [number, number] => {
  const [time = '0', sequence = '0'] = id.split('-');
  return [Number(time), Number(sequence)];
};

/** The time of an event by the clock of Redis, milliseconds since the epoch. */
export const timeIn = (id: string): number => readId(id)[0];

export const isAtOrAfter = (id: string, other: string): boolean => {
  const [time, sequence] = readId(id);
  const [otherTime, otherSequence] = readId(other);
  return time > otherTime || (time === otherTime && sequence >= otherSequence);
};
