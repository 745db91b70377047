/**
 * What Redis keeps of documents: a record of each, until when it is kept, and how many bytes each
 * application has. The bytes themselves are in the store.
 *
 * A document is kept until its own time has passed and no use is left. A use is that of a process,
 * with the time until which the process needs it; a use that is never released ends then.
 *
 * All keys share a slot, so that a record and its time change together.
 */
import { z } from 'zod';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import type { RedisClient } from '../../src/redis/connect.ts';

const aboutSchema = z.object({
  apId: z.string(),
  title: z.string(),
  sha256: z.string(),
  size: z.number(),
  pages: z.number(),
  createdAt: z.number(),
});

export interface DocumentRecord extends z.infer<typeof aboutSchema> {
  readonly id: string;
  /** Until when it is kept, in milliseconds since the epoch. Uses may keep it longer. */
  readonly expiresAt: number;
}

/** Hexadecimal, because some file systems do not tell `a` from `A`. */
const idPattern = /^D[0-9a-f]{32}$/;

/** 128 random bits: an id cannot be guessed. */
export const newDocumentId = (): string => `D${randomBytesOf(16).toString('hex')}`;

/** Adds nothing twice. The bytes of an application are counted with its record. */
const addScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'about', ARGV[2], 'until', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
redis.call('HINCRBY', KEYS[4], ARGV[5], ARGV[6])
return 1`;

/** Sets or ends a use, and with it until when the document is kept. */
const useScript = `
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[2])
else redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
fields = redis.call('HGETALL', KEYS[1])
local last = 0
for at = 1, #fields, 2 do
  if fields[at] == 'until' or string.sub(fields[at], 1, 4) == 'use:' then
    last = math.max(last, tonumber(fields[at + 1]))
  end
end
redis.call('ZADD', KEYS[2], last, ARGV[1])
return 1`;

/** Removes a record unless it is in use. With a time, only one that is kept no longer. */
const removeScript = `
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return 'unknown'
end
local about
for at = 1, #fields, 2 do
  local name, value = fields[at], fields[at + 1]
  if name == 'about' then about = cjson.decode(value) end
  if string.sub(name, 1, 4) == 'use:' and tonumber(value) > tonumber(ARGV[2]) then return 'used' end
  if name == 'until' and ARGV[3] == 'expired' and tonumber(value) > tonumber(ARGV[2]) then
    return 'used'
  end
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
if redis.call('HINCRBY', KEYS[4], about.apId, -about.size) <= 0 then
  redis.call('HDEL', KEYS[4], about.apId)
end
return 'removed'`;

/** Notes the first opening of a document that is there: one that is removed meanwhile stays so. */
const openedScript = `
if redis.call('HEXISTS', KEYS[1], 'about') == 0 then return 0 end
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`;

export type Removal = 'removed' | 'used' | 'unknown';

/** Who has opened a document, and when first, in milliseconds since the epoch. */
export interface Opening {
  readonly by: string;
  readonly at: number;
}

const openedBeginning = 'opened:';
const useBeginning = 'use:';
/** Documents that one look of the sweep takes. */
const atOnce = 100;

export const createDocumentRecords = ({
  redis,
  prefix,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly now: () => number;
}) => {
  const slot = `{${prefix}-documents}`;
  const keyOf = (id: string): string => `${slot}:document:${id}`;
  const sweptKey = (what: string): string => `${slot}:swept:${what}`;
  const keys = { until: `${slot}:until`, added: `${slot}:added`, bytes: `${slot}:bytes` };

  const read = async (
    id: string,
  ): Promise<{ record: DocumentRecord; fields: Record<string, string> } | undefined> => {
    if (!idPattern.test(id)) return undefined;
    const fields = await redis.hgetall(keyOf(id));
    const { about, until } = fields;
    if (about === undefined || until === undefined) return undefined;
    const times = Object.entries(fields).flatMap(([name, value]) =>
      name === 'until' || name.startsWith(useBeginning) ? [Number(value)] : [],
    );
    const expiresAt = Math.max(...times);
    // One that is kept no longer is gone, also before the sweep has come to it.
    if (expiresAt <= now()) return undefined;
    return { record: { id, ...aboutSchema.parse(JSON.parse(about)), expiresAt }, fields };
  };

  const remove = async (id: string, which: 'any' | 'expired'): Promise<Removal> =>
    (await redis.eval(
      removeScript,
      4,
      keyOf(id),
      keys.until,
      keys.added,
      keys.bytes,
      id,
      now(),
      which,
    )) as Removal;

  const use = async (id: string, by: string, until: number | ''): Promise<boolean> =>
    idPattern.test(id) &&
    (await redis.eval(useScript, 2, keyOf(id), keys.until, id, `${useBeginning}${by}`, until)) ===
      1;

  return {
    add: async ({ id, expiresAt, ...about }: DocumentRecord): Promise<void> => {
      await redis.eval(
        addScript,
        4,
        keyOf(id),
        keys.until,
        keys.added,
        keys.bytes,
        id,
        JSON.stringify(about),
        expiresAt,
        about.createdAt,
        about.apId,
        about.size,
      );
    },
    /** @returns Undefined for one that is unknown or kept no longer. */
    find: async (id: string): Promise<DocumentRecord | undefined> => (await read(id))?.record,
    /** Whether there is a record, also of one that is kept no longer. */
    isKnown: async (id: string): Promise<boolean> => (await redis.exists(keyOf(id))) === 1,
    /** The bytes of all documents of an application. */
    bytesOf: async (apId: string): Promise<number> => Number(await redis.hget(keys.bytes, apId)),
    /**
     * Keeps it at least so long.
     * @param by The process that needs it.
     * @param until In milliseconds since the epoch.
     * @returns False for one that is unknown.
     */
    use: (id: string, by: string, until: number): Promise<boolean> => use(id, by, until),
    /** Ends a use. */
    release: async (id: string, by: string): Promise<void> => void (await use(id, by, '')),
    /** Notes that somebody has opened it; only the first time counts. */
    noteOpened: async (id: string, by: string): Promise<void> => {
      await redis.eval(openedScript, 1, keyOf(id), `${openedBeginning}${by}`, now());
    },
    openings: async (id: string): Promise<readonly Opening[]> =>
      Object.entries((await read(id))?.fields ?? {})
        .flatMap(([name, at]) =>
          name.startsWith(openedBeginning)
            ? [{ by: name.slice(openedBeginning.length), at: Number(at) }]
            : [],
        )
        .sort((one, other) => one.at - other.at),
    /** The newest ones. */
    newest: async (limit: number): Promise<readonly DocumentRecord[]> => {
      const ids = await redis.zrevrange(keys.added, 0, limit - 1);
      const found = await Promise.all(ids.map((id) => read(id)));
      return found.flatMap((each) => each?.record ?? []);
    },
    /** How many there are, and their bytes. */
    totals: async (): Promise<{ readonly documents: number; readonly bytes: number }> => {
      const [documents, bytes] = await Promise.all([
        redis.zcard(keys.added),
        redis.hvals(keys.bytes),
      ]);
      return { documents, bytes: bytes.reduce((sum, each) => sum + Number(each), 0) };
    },
    /** Whether it is time to do this; then no other process does it for a while. */
    takeSweep: async (what: 'expired' | 'unknown', everyMs: number): Promise<boolean> =>
      (await redis.set(sweptKey(what), '1', 'PX', everyMs, 'NX')) === 'OK',
    remove: (id: string): Promise<Removal> => remove(id, 'any'),
    /** Removes the record of one that is kept no longer. */
    expire: (id: string): Promise<Removal> => remove(id, 'expired'),
    /** Some of those that may be kept no longer. */
    expired: (): Promise<string[]> =>
      redis.zrangebyscore(keys.until, '-inf', now(), 'LIMIT', 0, atOnce),
  };
};

export type DocumentRecords = ReturnType<typeof createDocumentRecords>;
