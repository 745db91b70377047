/** The script of a commit. A commit that sleeps gives its job back to BullMQ in the same step. */
import { moveToDelayed } from './bullmq-script.ts';
import { tellLines } from './journal-lines.ts';

/**
 * Names of BullMQ's keys, in the order in which its script `moveToDelayed` takes them. Empty for
 * the job itself.
 */
const given = [
  'marker',
  'active',
  'prioritized',
  'delayed',
  '',
  'events',
  'meta',
  'stalled',
  'wait',
  'limiter',
  'pc',
] as const;
export const sleepKeys = given.filter((name) => name !== '');
const jobAt = given.indexOf('') + 1;

/**
 * KEYS: job, lock, held tries, key of the deduplication, log; with a sleep also `sleepKeys`.
 * ARGV: as they are named below; lists begin with their length. Last come fields of the job and
 * their values; a field without a value is removed.
 *
 * Returns 0 without the lock, 1 when it is done, 2 when an event has come in, or an error of
 * BullMQ. Sent again, it finds its own id in `cut`: it takes no event and tells no line a second
 * time, and after the job was put to sleep it changes nothing.
 */
export const commitScript = `${tellLines}
local function moveToDelayed(KEYS, ARGV)
${moveToDelayed.content}
end
local argument = 0
local function take()
  argument = argument + 1
  return ARGV[argument]
end
local token, record, taken, cut, open, unwanted, heldUntil = take(), take(), take(), take(), take(), take(), take()
local id, prefix, now, delay = take(), take(), take(), take()
local told, untold = take(), take()
local sleeps = delay ~= ''
if redis.call('GET', KEYS[2]) ~= token then
  if sleeps and redis.call('HGET', KEYS[1], 'cut') == cut then return 1 end
  return 0
end
local inbox, before = unpack(redis.call('HMGET', KEYS[1], 'inbox', 'cut'))
local isAgain = cut ~= '' and before == cut
inbox = inbox or ''
if taken ~= '0' and not isAgain then
  inbox = string.sub(inbox, taken + 1)
  redis.call('HSET', KEYS[1], 'inbox', inbox)
end
local more = #inbox > 0
if more then open = '1' end
if cut == '' then
  redis.call('HSET', KEYS[1], 'progress', record, 'open', open)
else
  redis.call('HSET', KEYS[1], 'progress', record, 'open', open, 'cut', cut)
end
if told ~= '' and not isAgain then tellLines(KEYS[1], KEYS[5], told, untold) end
if unwanted ~= '' then redis.call('HDEL', KEYS[1], unwanted) end
for _ = 1, tonumber(take()) do redis.call('ZADD', KEYS[3], heldUntil, take()) end
for _ = 1, tonumber(take()) do redis.call('ZREM', KEYS[3], take()) end
local joinable, ttl = take(), take()
if joinable ~= '' and (redis.call('GET', KEYS[4]) or joinable) == joinable then
  if ttl == '' then redis.call('SET', KEYS[4], joinable) else redis.call('SET', KEYS[4], joinable, 'PX', ttl) end
end
while argument < #ARGV do
  local field, value = take(), take()
  if value == '' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, value) end
end
if more then return 2 end
if sleeps then
  local keys = {}
  for place = 6, #KEYS do keys[place - 5] = KEYS[place] end
  table.insert(keys, ${jobAt}, KEYS[1])
  local slept = moveToDelayed(keys, { prefix, now, id, token, delay, '1', '', '0', '' })
  if slept < 0 then return slept end
end
return 1`;
