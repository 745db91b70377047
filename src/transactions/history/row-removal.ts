/** Removes rows of a list whose retention is over, and frees chunks that have none left. */
import type { RedisClient } from '../../redis/connect.ts';
import type { GenerationKeys } from './keys.ts';
import { type Facts, type RowLayout, readFacts, readId, rowsInChunk } from './layout.ts';
import { readChunks } from './reading.ts';
import { chunkScript } from './rows-script.ts';

/** KEYS: index of numbers. ARGV: base; then number, facts as they were, id. */
const removeScript = (layout: RowLayout): string => `${chunkScript(layout)}
local base = ARGV[1]
for i = 2, #ARGV, 3 do
  local chunk, row = place(tonumber(ARGV[i]))
  local factsKey, from = base .. ':facts:' .. chunk, row * factsWidth
  if redis.call('GETRANGE', factsKey, from, from + factsWidth - 1) == ARGV[i + 1] then
    redis.call('SETRANGE', factsKey, from, string.rep('\\0', factsWidth))
    redis.call('SETRANGE', base .. ':names:' .. chunk, row * namesWidth, string.rep('\\0', namesWidth))
    redis.call('HDEL', KEYS[1], ARGV[i + 2])
  end
end
return 1`;

/** KEYS: facts, names, spans, meta. ARGV: chunk. The chunk that is being filled stays. */
const dropScript = (layout: RowLayout): string => `${chunkScript(layout)}
local following = tonumber(redis.call('HGET', KEYS[4], 'next') or '0')
if following < (tonumber(ARGV[1]) + 1) * rows then return 0 end
if redis.call('GET', KEYS[1]) ~= string.rep('\\0', rows * factsWidth) then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1`;

/** Rows of one script, so that other commands do not wait long. */
const maxRemoved = 250;

/**
 * @param gone The rows of a chunk to be removed. Those that have changed since they were read stay.
 * @returns The number of rows that were to be removed.
 */
export const removeRows = async (
  redis: RedisClient,
  layout: RowLayout,
  generation: GenerationKeys,
  gone: (facts: Facts, idOf: (row: number) => string) => Promise<readonly number[]>,
): Promise<number> => {
  const { base, at, facts: factsKey, names: namesKey, spans, meta } = generation;
  let removed = 0;
  for (const chunk of Object.keys(await redis.hgetall(spans)).map(Number)) {
    const [read] = await readChunks(redis, generation, [chunk], true);
    if (read === undefined) continue;
    const facts = readFacts(layout, read.facts);
    const idOf = (row: number): string => readId(layout, read.names, row);
    const rows = await gone(facts, idOf);
    for (let from = 0; from < rows.length; from += maxRemoved) {
      const given = rows
        .slice(from, from + maxRemoved)
        .flatMap((row) => [chunk * rowsInChunk + row, facts.row(row), idOf(row)]);
      await redis.eval(removeScript(layout), 1, at, base, ...given);
    }
    removed += rows.length;
    const keys = [factsKey(chunk), namesKey(chunk), spans, meta];
    await redis.eval(dropScript(layout), keys.length, ...keys, chunk);
  }
  return removed;
};
