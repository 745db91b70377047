/**
 * What BullMQ's event streams say about a shard since a position: which transactions have changed, and what they are now.
 *
 * The streams are trimmed to some ten thousand events. Reading begins with the event that was read last; when that is no
 * longer there, others may be gone with it.
 *
 * Events are read where they lie, because most of what they carry is not needed: a completed one repeats the signature.
 */
import type { RedisClient } from '../redis/connect.ts';
import { jobScript } from './jobs.ts';
import type { ShardKeys } from './keys.ts';
import { beginning, type Position, positionText } from './position.ts';
import { rowOf, type TransactionRow } from './row.ts';

export interface Changes {
  /** Each once; without a row where the job is gone. */
  readonly changed: readonly { readonly id: string; readonly row: TransactionRow | undefined }[];
  readonly position: Position;
  /** There may have been more than is still told. */
  readonly gap: boolean;
  /** There is more to be read. */
  readonly more: boolean;
}

/** A transaction is some four events, so Redis is busy with this for a millisecond or two. */
const eventsAtOnce = 600;

/**
 * KEYS: the two streams, the state. ARGV: where they were read to, how many events at once, what the jobs' keys begin
 * with, the position by which all this is so.
 *
 * Of the signatures' events, those count that say that something began, fell asleep, ended, went, or is run again; the
 * others say where a job went inside the queue, which is not shown. Of a receipt only its end is told to the signature.
 */
const changesScript = `${jobScript}
if redis.call('HGET', KEYS[3], 'position') ~= ARGV[5] then return false end
local most = tonumber(ARGV[3])
local telling = { added = true, delayed = true, completed = true, failed = true, removed = true }
local gap, more = 0, 0
local ids, known = {}, {}
local function field(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end
local function read(key, since, told)
  local entries = redis.call('XRANGE', key, since, '+', 'COUNT', most + 1)
  if #entries > most then more = 1 end
  local first = 1
  if since ~= '${beginning}' then
    if entries[1] and entries[1][1] == since then first = 2 else gap = 1 end
  elseif #entries > most then
    -- With fewer than this ever written, none has been trimmed.
    gap = 1
  end
  local last = since
  for i = first, #entries do
    local fields = entries[i][2]
    last = entries[i][1]
    local id = told(field(fields, 'event'), field(fields, 'jobId'), fields)
    if id and not known[id] then
      known[id] = true
      ids[#ids + 1] = id
    end
  end
  return last
end
local signatures = read(KEYS[1], ARGV[1], function(event, id, fields)
  if telling[event] then return id end
  if event ~= 'waiting' then return nil end
  local before = field(fields, 'prev')
  return (before == 'failed' or before == 'completed') and id
end)
local receipts = read(KEYS[2], ARGV[2], function(event, id)
  return event == 'completed' and string.match(id or '', '^(.+)%-receipt$')
end)
local found = { gap, more, signatures, receipts }
if gap == 0 then
  for _, id in ipairs(ids) do
    found[#found + 1] = id
    found[#found + 1] = job(ARGV[4], id)
  end
end
return found`;

/** @returns Undefined when the index does not stand there any more. */
export const readChanges = async (
  redis: RedisClient,
  keys: ShardKeys,
  since: Position,
): Promise<Changes | undefined> => {
  const given = [keys.signatures('events'), keys.receipts('events'), keys.state] as const;
  const read = [since.signatures, since.receipts] as const;
  const found = await redis.eval(
    changesScript,
    3,
    ...given,
    ...read,
    eventsAtOnce,
    keys.signatures(''),
    positionText(since),
  );
  if (found === null) return undefined;
  const [gap, more, signatures, receipts, ...jobs] = found as [number, number, string, string, ...unknown[]];
  const changed: { id: string; row: TransactionRow | undefined }[] = [];
  for (let index = 0; index < jobs.length; index += 2) {
    const id = String(jobs[index]);
    changed.push({ id, row: rowOf(id, jobs[index + 1] as readonly (string | null)[]) });
  }
  return {
    changed,
    position: { ...since, signatures, receipts },
    gap: gap === 1,
    more: more === 1,
  };
};

/** The ends of the streams as they are now: what is read from the jobs after this contains all that they tell. */
export const latestEvents = async (
  redis: RedisClient,
  keys: ShardKeys,
): Promise<Pick<Position, 'signatures' | 'receipts'>> => {
  const last = async (key: string): Promise<string> => {
    const [entry] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
    return entry?.[0] ?? beginning;
  };
  const [signatures, receipts] = await Promise.all([
    last(keys.signatures('events')),
    last(keys.receipts('events')),
  ]);
  return { signatures, receipts };
};
