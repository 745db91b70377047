/**
 * What BullMQ's event streams say about a shard since a position: which transactions have changed, and what they are now.
 *
 * The streams are trimmed to some ten thousand events. Reading begins with the event that was read last; when that is no
 * longer there, others may be gone with it.
 *
 * Events are read where they lie, because most of what they carry is not needed: a completed one repeats the signature.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import { lastEntryId } from '../redis/streams.ts';
import type { ShardKeys } from './keys.ts';
import { beginning, type EventPosition, isAtOrAfter } from './position.ts';

/** What was read from the two streams. */
export interface Read {
  readonly position: EventPosition;
  /** Those of which more may have been told than is still there. */
  readonly gaps: readonly (keyof EventPosition)[];
  /** There is more to be read. */
  readonly more: boolean;
}

/** A transaction is some four events, so Redis is busy with this for a millisecond or two. */
const eventsAtOnce = 250;

/**
 * Lua: reads the two streams, KEYS 1 and 2, from ARGV 1 and 2 on, ARGV 3 events of each at once; leaves the transactions
 * that they tell of in `ids`, each once, and begins the answer in `found`. Of a receipt only its end is told to the
 * signature.
 *
 * @param told Body of a function of `event`, `id` and `fields` of a signature's event: the id when it counts. It may ask
 *   `telling`, for which all counts that changes what a list shows.
 */
export const eventsScript = (told: string): string => `
local most = tonumber(ARGV[3])
local gaps, more = {}, 0
local ids, known = {}, {}
local function field(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end
-- What says that something began, fell asleep, ended, went, or is run again; the rest says where a job went inside the queue.
local function telling(event, id, fields)
  if event == 'added' or event == 'completed' or event == 'failed' or event == 'delayed' or event == 'removed' then
    return id
  end
  if event ~= 'waiting' then return nil end
  local before = field(fields, 'prev')
  return (before == 'failed' or before == 'completed') and id
end
local function read(stream, key, since, told)
  local entries = redis.call('XRANGE', key, since, '+', 'COUNT', most + 1)
  if #entries > most then more = 1 end
  local first = 1
  if since ~= '${beginning}' then
    if entries[1] and entries[1][1] == since then first = 2 else gaps[#gaps + 1] = stream end
  elseif #entries > most then
    -- With fewer than this ever written, none has been trimmed.
    gaps[#gaps + 1] = stream
  end
  local last = since
  for i = first, #entries do
    local fields = entries[i][2]
    last = entries[i][1]
    local id = told(
      fields[1] == 'event' and fields[2] or field(fields, 'event'),
      fields[3] == 'jobId' and fields[4] or field(fields, 'jobId'),
      fields
    )
    if id and not known[id] then
      known[id] = true
      ids[#ids + 1] = id
    end
  end
  return last
end
local signatures = read('signatures', KEYS[1], ARGV[1], function(event, id, fields)
${told}
end)
local receipts = read('receipts', KEYS[2], ARGV[2], function(event, id)
  return event == 'completed' and string.match(id or '', '^(.+)%-receipt$')
end)
local found = { gaps, more, signatures, receipts }`;

/** @returns What {@link eventsScript} wants to be given. */
export const eventsArguments = (
  keys: ShardKeys,
  { signatures, receipts }: EventPosition,
): readonly [keys: readonly string[], values: readonly (string | number)[]] => [
  [keys.signatures('events'), keys.receipts('events')],
  [signatures, receipts, eventsAtOnce],
];

/** The answer of a script that begins with {@link eventsScript}: what it began, and what followed. */
export const readAnswer = (found: unknown): Read & { readonly rest: readonly unknown[] } => {
  const [gaps, more, signatures, receipts, ...rest] = found as [
    Read['gaps'],
    number,
    string,
    string,
    ...unknown[],
  ];
  return { position: { signatures, receipts }, gaps, more: more === 1, rest };
};

/** The ends of the streams as they are now: what is read from the jobs after this contains all that they tell. */
export const latestEvents = async (redis: RedisClient, keys: ShardKeys): Promise<EventPosition> => {
  const [signatures, receipts] = await Promise.all([
    lastEntryId(redis, keys.signatures('events')),
    lastEntryId(redis, keys.receipts('events')),
  ]);
  return { signatures, receipts };
};

/** Resolves when `position` has come to where the streams end now. */
export const untilRead = async (
  redis: RedisClient,
  keys: ShardKeys,
  position: () => Promise<EventPosition | undefined>,
  pollMs: number,
): Promise<void> => {
  const until = await latestEvents(redis, keys);
  for (;;) {
    const at = await position();
    if (
      at !== undefined &&
      isAtOrAfter(at.signatures, until.signatures) &&
      isAtOrAfter(at.receipts, until.receipts)
    )
      return;
    await delay(Math.min(pollMs, 20));
  }
};
