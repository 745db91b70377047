/**
 * Reads the event streams of BullMQ for a shard from a position on: which transactions have
 * changed.
 *
 * The streams are trimmed to some ten thousand events. Reading begins with the last event that was
 * read; when that is gone, later ones may be gone, too.
 *
 * Scripts read the events in Redis, because most of their contents are not needed: a completed one
 * repeats the signature.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../../redis/connect.ts';
import { lastEntryId } from '../../redis/streams.ts';
import type { ShardKeys } from './keys.ts';
import { beginning, type EventPosition, isAtOrAfter } from './position.ts';

export interface Read {
  readonly position: EventPosition;
  /** Streams from which events may have been trimmed unread. */
  readonly gaps: readonly (keyof EventPosition)[];
  readonly more: boolean;
}

/** Transactions of which events tell and that are still to be handled, each once. */
export interface Changes extends Read {
  readonly ids: readonly string[];
}

/**
 * Events that are read at once. They keep Redis busy for one to two milliseconds. With fewer the
 * reader falls behind a flood, events are trimmed unread, and a repair costs Redis more.
 */
const eventsAtOnce = 250;

/**
 * Lua: reads the two streams, KEYS 1 and 2, from ARGV 1 and 2 on, at most ARGV 3 events of each;
 * leaves their transactions in `ids`, each once, and begins the answer in `found`. Of a receipt
 * only the end counts.
 *
 * @param told Body of a function of `event`, `id` and `fields` of a signature's event: returns the
 *   id if it counts. It may call `telling`, which counts all that changes what a list shows.
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
-- Begun, asleep, ended, removed, run again; other events only tell where in the queue a job is.
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

/** The arguments of {@link eventsScript}. */
export const eventsArguments = (
  keys: ShardKeys,
  { signatures, receipts }: EventPosition,
): readonly [keys: readonly string[], values: readonly (string | number)[]] => [
  [keys.signatures('events'), keys.receipts('events')],
  [signatures, receipts, eventsAtOnce],
];

/** Reads the answer of a script that begins with {@link eventsScript}. */
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

/** The current ends of the streams. Jobs that are read after this call are at least as new. */
export const latestEvents = async (redis: RedisClient, keys: ShardKeys): Promise<EventPosition> => {
  const [signatures, receipts] = await Promise.all([
    lastEntryId(redis, keys.signatures('events')),
    lastEntryId(redis, keys.receipts('events')),
  ]);
  return { signatures, receipts };
};

/** Resolves when `position` has reached the ends that the streams have now. */
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
