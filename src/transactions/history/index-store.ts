/**
 * The writes to the index of one shard. Each is one script, and writes only if the index still has
 * the position that the writer knows. So two processes, or one that was paused, cannot undo each
 * other's work.
 */
import type { RedisClient } from '../../redis/connect.ts';
import type { ShardKeys } from './keys.ts';
import { type Entry, idWidth, packEntries, transactionLayout } from './packed-row.ts';
import { type Position, positionText, readPosition } from './position.ts';
import { transactionCounters, writeRowsScript } from './rows-script.ts';

/**
 * KEYS: the state. ARGV: base of the generation's keys, the claim's field, what it holds, what it
 * becomes, the changes' key, now, the entries (packed-row.ts).
 */
const writeScript = `${writeRowsScript(transactionLayout, transactionCounters)}
if (redis.call('HGET', KEYS[1], ARGV[2]) or '') ~= ARGV[3] then return 0 end
local entries = ARGV[7]
local ids, allFacts, allNames = {}, {}, {}
for from = 1, #entries, factsWidth + namesWidth do
  local names = string.sub(entries, from + factsWidth, from + factsWidth + namesWidth - 1)
  ids[#ids + 1] = string.match(string.sub(names, 1, ${idWidth}), '^%Z*')
  allFacts[#ids] = string.sub(entries, from, from + factsWidth - 1)
  allNames[#ids] = names
end
local changed = writeRows(ARGV[1], ids, allFacts, allNames, tonumber(ARGV[6]))
if ARGV[2] == 'position' then tellChanges(ARGV[5], changed) end
if ARGV[4] ~= ARGV[3] then redis.call('HSET', KEYS[1], ARGV[2], ARGV[4]) end
return 1`;

/** Prefix of the state's fields that name generations to be removed. */
const leftField = 'left:';

/**
 * KEYS: state, changes. ARGV: generation, position.
 *
 * May be sent again when its answer was lost. The generation before is only written down here, and
 * removed later, so that a failure after the switch cannot harm the index in use.
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

/** The sizes of one script, small enough that other commands do not wait long. */
const maxWrites = 250;
const maxDrops = 100;

const split = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, part) =>
    list.slice(part * size, (part + 1) * size),
  );

export const createIndexStore = (redis: RedisClient, keys: ShardKeys, now: () => number) => {
  const dropGeneration = async (number: number): Promise<void> => {
    const { facts, names, at, meta, spans } = keys.generation(number);
    const chunks = Object.keys(await redis.hgetall(spans)).map(Number);
    for (const some of split(chunks, maxDrops)) {
      await redis.unlink(...some.flatMap((chunk) => [facts(chunk), names(chunk)]));
    }
    // The counters of the generation expire by themselves.
    await redis.unlink(at, meta, spans);
  };

  /** Gives up a generation that is being built; one that is in use already stays. */
  const giveUp = async (number: number): Promise<void> => {
    await redis.eval(giveUpScript, 1, keys.state, number);
  };

  /** Removes the generations that were given up or replaced. */
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
    const fixed = [base, field, holds, becomes, keys.changes, now()];
    return (await redis.eval(writeScript, 1, keys.state, ...fixed, packEntries(entries))) === 1;
  };

  return {
    giveUp,
    removeLeft,

    position: async (): Promise<Position | undefined> =>
      readPosition(await redis.hget(keys.state, 'position')),

    /**
     * Writes to the generation in use and moves on, from a position that this process has read or
     * written.
     *
     * @returns The new position of the index; undefined when another process has written meanwhile.
     *   Then `to` is not reached, and the events are read again.
     */
    write: async (
      from: Position,
      to: Position,
      entries: readonly Entry[],
    ): Promise<Position | undefined> => {
      let at = from;
      const parts = entries.length === 0 ? [[]] : split(entries, maxWrites);
      for (const some of parts) {
        // The position moves with the last part: after an interruption all are written again.
        const next = { ...(some === parts.at(-1) ? to : from), writes: at.writes + 1 };
        if (
          !(await writeSome(
            from.generation,
            'position',
            positionText(at),
            positionText(next),
            some,
          ))
        )
          return undefined;
        at = next;
      }
      return at;
    },

    /** Writes to a generation that is being built. @returns False when it was given up. */
    build: async (generation: number, entries: readonly Entry[]): Promise<boolean> => {
      const claim = String(generation);
      for (const some of split(entries, maxWrites)) {
        if (!(await writeSome(generation, 'building', claim, claim, some))) return false;
      }
      return true;
    },

    /** The number of transactions in a generation. */
    size: async (generation: number): Promise<number> => redis.hlen(keys.generation(generation).at),

    /** Removes the remains of earlier rebuilds. @returns A new generation, not in use yet. */
    beginGeneration: async (): Promise<number> => {
      const unfinished = Number((await redis.hget(keys.state, 'building')) ?? 0);
      if (unfinished > 0) await giveUp(unfinished);
      await removeLeft();
      const generation = await redis.hincrby(keys.state, 'generations', 1);
      await redis.hset(keys.state, 'building', generation);
      return generation;
    },

    /** Puts a finished generation to use. @returns False when it was given up meanwhile. */
    use: async (position: Position): Promise<boolean> => {
      const given = [keys.state, keys.changes, position.generation, positionText(position)];
      return (await redis.eval(useScript, 2, ...given)) === 1;
    },
  };
};

export type IndexStore = ReturnType<typeof createIndexStore>;
