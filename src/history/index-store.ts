/**
 * The writes to the index of one shard. Each is one script, so it is done wholly or not at all, and only if the index
 * still stands where the writer believes: two processes, or one that slept, cannot undo each other's work.
 */
import type { RedisClient } from '../redis/connect.ts';
import { countedMs, type Entry, packEntries } from './entry.ts';
import type { ShardKeys } from './keys.ts';
import { idWidth } from './packed-row.ts';
import { type Position, positionText, readPosition } from './position.ts';
import { chunkScript, writeRowsScript } from './rows-script.ts';
import type { Ended } from './walk.ts';

export interface IndexStore {
  position(): Promise<Position | undefined>;
  /**
   * Writes to the generation in use and moves on, from a position that this process has read or written.
   *
   * @returns Where the index stands now; undefined when somebody else has written meanwhile: `to` is not reached, and
   *   what is missing is still told by the events.
   */
  write(from: Position, to: Position, entries: readonly Entry[]): Promise<Position | undefined>;
  /** Writes to a generation that is being built. @returns False when it was given up. */
  build(generation: number, entries: readonly Entry[]): Promise<boolean>;
  /** Of these the ones whose rows do not say that they ended then. */
  notEndedThen(generation: number, ended: readonly Ended[]): Promise<readonly string[]>;
  /** Takes a row out, if it still is what was read. */
  remove(
    generation: number,
    rows: readonly { readonly number: number; readonly facts: Uint8Array; readonly id: string }[],
  ): Promise<void>;
  /** Frees a chunk that has no rows left. @returns Whether it had none. */
  dropIfEmpty(generation: number, chunk: number): Promise<boolean>;
  /** A new generation that nobody reads yet. What earlier rebuilds left is removed. */
  beginGeneration(): Promise<number>;
  /** Puts a finished generation to use; the one before is left. @returns False when it was given up meanwhile. */
  use(position: Position): Promise<boolean>;
  /** A generation that is being built is left; one that is in use already stays. */
  giveUp(generation: number): Promise<void>;
  /** Frees what the generations that were left take up. */
  removeLeft(): Promise<void>;
  /** The whole index, unless a process keeps it. */
  removeUnkept(): Promise<void>;
}

/**
 * KEYS: the state. ARGV: base of the generation's keys, claim's field, what it holds, what it becomes, the changes'
 * key, how long a minute is kept, now, the entries (entry.ts).
 */
const writeScript = `${writeRowsScript}
if (redis.call('HGET', KEYS[1], ARGV[2]) or '') ~= ARGV[3] then return 0 end
local entries = ARGV[8]
local ids, allFacts, allNames = {}, {}, {}
for from = 1, #entries, factsWidth + namesWidth do
  local names = string.sub(entries, from + factsWidth, from + factsWidth + namesWidth - 1)
  ids[#ids + 1] = string.match(string.sub(names, 1, ${idWidth}), '^%Z*')
  allFacts[#ids] = string.sub(entries, from, from + factsWidth - 1)
  allNames[#ids] = names
end
local changed = writeRows(ARGV[1], ids, allFacts, allNames, tonumber(ARGV[6]), tonumber(ARGV[7]))
if ARGV[2] == 'position' then tellChanges(ARGV[5], changed) end
if ARGV[4] ~= ARGV[3] then redis.call('HSET', KEYS[1], ARGV[2], ARGV[4]) end
return 1`;

/** KEYS: index of numbers. ARGV: base; then id and time of its end. */
const notEndedScript = `${chunkScript}
local base, ids, found = ARGV[1], {}, {}
for i = 2, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local numbers = redis.call('HMGET', KEYS[1], unpack(ids))
for i, id in ipairs(ids) do
  local ended = ''
  if numbers[i] then
    local chunk, row = place(tonumber(numbers[i]))
    ended = redis.call('GETRANGE', base .. ':facts:' .. chunk, row * factsWidth + 16, row * factsWidth + 23)
  end
  if #ended < 8 or struct.unpack('<d', ended) ~= tonumber(ARGV[i * 2 + 1]) then found[#found + 1] = id end
end
return found`;

/** KEYS: index of numbers. ARGV: base; then number, facts as they were, id. */
const removeScript = `${chunkScript}
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
const dropScript = `${chunkScript}
local following = tonumber(redis.call('HGET', KEYS[4], 'next') or '0')
if following < (tonumber(ARGV[1]) + 1) * rows then return 0 end
if redis.call('GET', KEYS[1]) ~= string.rep('\\0', rows * factsWidth) then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1`;

/** Field of the state for a generation that is no longer wanted, until it has been removed. */
const leftField = 'left:';

/**
 * KEYS: state, changes. ARGV: generation, position.
 *
 * Run again because its answer was lost, it finds done what it would do. The generation before is not removed here: what
 * fails or dies after the switch leaves a generation too many, and which is written down.
 */
const useScript = `
local before = string.match(redis.call('HGET', KEYS[1], 'position') or '', '^%d+')
if before == ARGV[1] then return 1 end
if redis.call('HGET', KEYS[1], 'building') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'position', ARGV[2])
redis.call('HDEL', KEYS[1], 'building')
if before then redis.call('HSET', KEYS[1], '${leftField}' .. before, '') end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 100, '*', 'ids', '*')
return 1`;

/** KEYS: state. ARGV: generation. */
const giveUpScript = `
if redis.call('HGET', KEYS[1], 'building') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'building')
redis.call('HSET', KEYS[1], '${leftField}' .. ARGV[1], '')
return 1`;

/** Few enough that one script keeps nobody waiting for long. */
const writesAtOnce = 250;
const looksAtOnce = 1000;
const dropsAtOnce = 100;

export const createIndexStore = (redis: RedisClient, keys: ShardKeys, now: () => number): IndexStore => {
  const dropGeneration = async (number: number): Promise<void> => {
    const generation = keys.generation(number);
    const chunks = Object.keys(await redis.hgetall(generation.spans)).map(Number);
    for (let first = 0; first < chunks.length; first += dropsAtOnce) {
      const some = chunks.slice(first, first + dropsAtOnce);
      await redis.unlink(...some.flatMap((chunk) => [generation.facts(chunk), generation.names(chunk)]));
    }
    // Its minutes go by themselves.
    await redis.unlink(generation.at, generation.meta, generation.spans);
  };

  const giveUp = async (number: number): Promise<void> => {
    await redis.eval(giveUpScript, 1, keys.state, number);
  };

  const removeLeft = async (): Promise<void> => {
    for (const field of await redis.hkeys(keys.state)) {
      if (!field.startsWith(leftField)) continue;
      await dropGeneration(Number(field.slice(leftField.length)));
      await redis.hdel(keys.state, field);
    }
  };

  const writeSome = async (
    generation: number,
    field: 'position' | 'building',
    holds: string,
    becomes: string,
    entries: readonly Entry[],
  ): Promise<boolean> => {
    const { base } = keys.generation(generation);
    const fixed = [base, field, holds, becomes, keys.changes, countedMs, now()];
    return (await redis.eval(writeScript, 1, keys.state, ...fixed, packEntries(entries))) === 1;
  };

  return {
    giveUp,
    removeLeft,

    removeUnkept: async () => {
      const begun = await redis.hget(keys.state, 'generations');
      if (begun === null || (await redis.exists(keys.lease)) === 1) return;
      for (let number = 1; number <= Number(begun); number += 1) await dropGeneration(number);
      await redis.unlink(keys.state, keys.changes);
    },

    position: async () => readPosition(await redis.hget(keys.state, 'position')),

    write: async (from, to, entries) => {
      let at = from;
      for (let first = 0; first === 0 || first < entries.length; first += writesAtOnce) {
        // The position moves with the last of them: cut off before, all are written again, to the same end.
        const isLast = first + writesAtOnce >= entries.length;
        const next = { ...(isLast ? to : from), writes: at.writes + 1 };
        const some = entries.slice(first, first + writesAtOnce);
        if (!(await writeSome(from.generation, 'position', positionText(at), positionText(next), some)))
          return undefined;
        at = next;
      }
      return at;
    },

    build: async (generation, entries) => {
      const claim = String(generation);
      for (let first = 0; first < entries.length; first += writesAtOnce) {
        const some = entries.slice(first, first + writesAtOnce);
        if (!(await writeSome(generation, 'building', claim, claim, some))) return false;
      }
      return true;
    },

    notEndedThen: async (generation, ended) => {
      const { base, at } = keys.generation(generation);
      const found: string[] = [];
      for (let first = 0; first < ended.length; first += looksAtOnce) {
        const some = ended.slice(first, first + looksAtOnce).flatMap((each) => [each.id, each.at]);
        found.push(...((await redis.eval(notEndedScript, 1, at, base, ...some)) as string[]));
      }
      return found;
    },

    remove: async (generation, rows) => {
      const { base, at } = keys.generation(generation);
      for (let first = 0; first < rows.length; first += writesAtOnce) {
        const some = rows.slice(first, first + writesAtOnce);
        const given = some.flatMap(({ number, facts, id }) => [number, Buffer.from(facts), id]);
        await redis.eval(removeScript, 1, at, base, ...given);
      }
    },

    dropIfEmpty: async (generation, chunk) => {
      const { facts, names, spans, meta } = keys.generation(generation);
      return (await redis.eval(dropScript, 4, facts(chunk), names(chunk), spans, meta, chunk)) === 1;
    },

    beginGeneration: async () => {
      const unfinished = Number((await redis.hget(keys.state, 'building')) ?? 0);
      if (unfinished > 0) await giveUp(unfinished);
      await removeLeft();
      const generation = await redis.hincrby(keys.state, 'generations', 1);
      await redis.hset(keys.state, 'building', generation);
      return generation;
    },

    use: async (position) => {
      const given = [keys.state, keys.changes, position.generation, positionText(position)];
      return (await redis.eval(useScript, 2, ...given)) === 1;
    },
  };
};
