/** The script that adds an event to the inbox of an instance, and wakes it in the same step. */
import { promote } from './bullmq-script.ts';
import { tellRefusal } from './journal-lines.ts';

export const maxInboxBytes = 1_048_576;
/** Bytes for events from outside. The rest is for the engine, for example the ends of children. */
const maxOutsideBytes = maxInboxBytes / 4;
/** Waiting events at which no further one is accepted from outside. */
export const maxWaitingEvents = 100;
/**
 * Verdicts on keys from outside that are kept: an event that is sent again counts once, until this
 * many others have come. BullMQ reads all fields of a job with each turn, and an instance may live
 * for years.
 */
export const maxKeys = 200;

/** Senders whose keys have a bound of their own. The keys of all others share one. */
const keyOrigins = ['app/', 'op/'];

/** The prefix of the keys of events from outside. */
export const outsideKeys = 'out/';

/** Names of BullMQ's keys, in the order in which its script `promote` takes them. */
export const promoteKeys = [
  'delayed',
  'wait',
  'paused',
  'meta',
  'prioritized',
  'active',
  'pc',
  'events',
  'marker',
] as const;

/**
 * KEYS: job, lock, log, `promoteKeys`. ARGV: as they are named below; `foreseen` is a verdict or
 * empty, and holds for this record, this length of the inbox and until `before`. A verdict on an
 * event that is sent once is not kept: BullMQ reads all fields of a job with each turn.
 *
 * A job that has failed and is run again is open again, although its last turn had closed it. One
 * that is marked to fail (`defa`) has ended. Where other events wait, a sender may have died before
 * it could wake the job.
 *
 * The verdict on the oldest key from outside goes when there are too many, but never while its
 * event waits: a turn would write it down again.
 *
 * Returns the delivery, and 0 where a turn has taken the job since it woke and not committed yet:
 * it may give the job back unread, so the event is to be sent again. A job that sleeps is woken in
 * the same step.
 */
export const deliverScript = `${tellRefusal}
local function promote(KEYS, ARGV)
${promote.content}
end
local prefix, id, key, line, maxInbox, foreseen, record, length, before, sentOnce, refusal = unpack(ARGV)
local function deliver()
  local job = redis.call('HMGET', KEYS[1], 'timestamp', 'finishedOn', 'open', 'key:' .. key, 'inbox', 'progress',
    'stacktrace', 'ats', 'defa', 'keys')
  local added, finished, open, known, inbox, progress, failed, turns, marked, keys = unpack(job, 1, 10)
  inbox = inbox or ''
  local runs = redis.call('EXISTS', KEYS[2])
  if not added then return {'unknown', 0} end
  local todo = 1 - runs
  if not open and (turns or '0') == '0' then todo = 0 elseif open == '2' then todo = 1 + runs end
  local function originOf(each)
    for _, origin in ipairs({ ${keyOrigins.map((each) => `'${outsideKeys}${each}'`).join(', ')} }) do
      if string.sub(each, 1, #origin) == origin then return origin end
    end
    return ''
  end
  if inbox == '' and known then todo = 0 end
  if known then return {known, todo} end
  if finished or marked or (open == '0' and not failed) then return {'finished', 0} end
  if not open and runs == 1 then return {'busy', 0} end
  if #inbox > tonumber(maxInbox) then return {'busy', todo} end
  local isOutside = string.sub(key, 1, ${outsideKeys.length}) == '${outsideKeys}'
  if isOutside then
    local _, waiting = string.gsub(inbox, '\\n', '')
    if #inbox > ${maxOutsideBytes} or waiting >= ${maxWaitingEvents} then return {'busy', todo} end
  end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local state = 'waiting'
  if foreseen ~= '' and runs == 0 and now < tonumber(before) and #inbox == tonumber(length)
    and (open and progress or '') == record then state = foreseen end
  local isKept = state ~= 'refused' or sentOnce == '0'
  if isKept and isOutside then
    local kept = cjson.decode(keys or '[]')
    local oldest, same = nil, 0
    for place, each in ipairs(kept) do
      if originOf(each) == originOf(key) then
        oldest = oldest or place
        same = same + 1
      end
    end
    if same >= ${maxKeys} then
      local name = 'key:' .. kept[oldest]
      local verdict = redis.call('HGET', KEYS[1], name)
      if verdict == 'waiting' or verdict == 'accepted' then return {'busy', todo} end
      redis.call('HDEL', KEYS[1], name)
      table.remove(kept, oldest)
    end
    kept[#kept + 1] = key
    redis.call('HSET', KEYS[1], 'keys', cjson.encode(kept))
  end
  if state ~= 'refused' then
    redis.call('HSET', KEYS[1], 'inbox', inbox .. string.format('%.0f', now) .. '\\t' .. line .. '\\n')
    if not open then redis.call('HSET', KEYS[1], 'progress', '{"inbox":true}') end
  end
  if isKept then redis.call('HSET', KEYS[1], 'key:' .. key, state) end
  if state == 'refused' and refusal ~= '' then tellRefusal(KEYS[1], KEYS[3], refusal) end
  if state == 'refused' and inbox == '' then todo = 0 end
  return {state, todo}
end
local delivery, todo = unpack(deliver())
if todo == 0 then return {delivery, 1} end
local keys = {}
for place = 4, #KEYS do keys[place - 3] = KEYS[place] end
if promote(keys, { prefix, id }) == 0 or todo == 1 then return {delivery, 1} end
return {delivery, 0}`;
