/** Reads the rows of one shard, chunk by chunk. */
import { Buffer } from 'node:buffer';
import type { RedisClient } from '../../redis/connect.ts';
import { jobScript } from './jobs.ts';
import type { GenerationKeys, ShardKeys } from './keys.ts';
import { rowsInChunk } from './layout.ts';
import { idWidth, namesWidth } from './packed-row.ts';
import { rowOf, type TransactionRow } from './row.ts';

/** The least and the greatest submittedAt of a chunk's rows, milliseconds since the epoch. */
export interface Span {
  readonly chunk: number;
  readonly least: number;
  readonly greatest: number;
}

const nothing = Buffer.alloc(0);

export const readSpans = async (
  redis: RedisClient,
  generation: GenerationKeys,
): Promise<readonly Span[]> =>
  Object.entries(await redis.hgetall(generation.spans)).map(([chunk, span]) => {
    const [least = '0', greatest = '0'] = span.split(' ');
    return { chunk: Number(chunk), least: Number(least), greatest: Number(greatest) };
  });

/** @returns The facts, and on request the names, of each chunk; empty for one that is gone. */
export const readChunks = async (
  redis: RedisClient,
  generation: GenerationKeys,
  chunks: readonly number[],
  withNames: boolean,
): Promise<readonly { readonly facts: Buffer; readonly names: Buffer }[]> => {
  const read = async (key: string): Promise<Buffer> => (await redis.getBuffer(key)) ?? nothing;
  return Promise.all(
    chunks.map(async (chunk) => {
      const [facts, names] = await Promise.all([
        read(generation.facts(chunk)),
        withNames ? read(generation.names(chunk)) : nothing,
      ]);
      return { facts, names };
    }),
  );
};

/** KEYS: names. ARGV: what to look for. */
const holdingScript = `
local found = {}
for i = 1, #KEYS do
  local names = redis.call('GET', KEYS[i])
  found[i] = (not names and 2) or (string.find(names, ARGV[1], 1, true) and 1) or 0
end
return found`;

/** Looks for bytes in names, inside Redis: handing the names out would cost it more. */
export const lookInNames = async (
  redis: RedisClient,
  generation: GenerationKeys,
  chunks: readonly number[],
  needle: Buffer,
): Promise<readonly ('held' | 'not held' | 'gone')[]> => {
  const keys = chunks.map((chunk) => generation.names(chunk));
  const found = (await redis.eval(
    holdingScript,
    keys.length,
    ...keys,
    needle,
  )) as readonly number[];
  return found.map((each) => (each === 2 ? 'gone' : each === 1 ? 'held' : 'not held'));
};

/** KEYS: the state. ARGV: base of the generation's keys, prefix of the jobs' keys, row numbers. */
const rowsScript = `${jobScript}
local found = {}
for i = 3, #ARGV do
  local number = tonumber(ARGV[i])
  local chunk = math.floor(number / ${rowsInChunk})
  local from = (number - chunk * ${rowsInChunk}) * ${namesWidth}
  local key = ARGV[1] .. ':names:' .. string.format('%d', chunk)
  local id = string.gsub(redis.call('GETRANGE', key, from, from + ${idWidth - 1}), '%z+$', '')
  found[#found + 1] = id
  found[#found + 1] = id == '' and {} or job(ARGV[2], id)
end
return found`;

/** @returns The current transactions of rows; undefined where row or job is gone. */
export const readNumbered = async (
  redis: RedisClient,
  keys: ShardKeys,
  generation: GenerationKeys,
  numbers: readonly number[],
): Promise<readonly (TransactionRow | undefined)[]> => {
  const prefix = keys.signatures('');
  const found = await redis.eval(rowsScript, 1, keys.state, generation.base, prefix, ...numbers);
  const read = found as readonly unknown[];
  return numbers.map((_, index) =>
    rowOf(String(read[index * 2]), read[index * 2 + 1] as readonly (string | null)[]),
  );
};
