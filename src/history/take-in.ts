/**
 * Follows the events, and takes what has just been submitted into the index at once, where it lies: in Redis.
 *
 * That is what a flood is made of, and nearly all there is to know of it stands in its job. To hand a job out and have its
 * row back would cost Redis as much again, and a process several times that. Everything else is left to `rowOf`: what has begun
 * or ended, and whatever is not quite as the service writes it. Both ways come to the same row (test/history/search.test.ts).
 */
import type { RedisClient } from '../redis/connect.ts';
import { countedMs } from './entry.ts';
import { eventsArguments, eventsScript, type Read, readAnswer } from './events.ts';
import type { ShardKeys } from './keys.ts';
import { apTransIdWidth, idWidth, profileCodes, stateCodeOf } from './packed-row.ts';
import { type EventPosition, type Position, positionText } from './position.ts';
import { lastTime } from './row.ts';
import { writeRowsScript } from './rows-script.ts';

export interface Changes extends Read {
  /** Each once; none where there is a gap. */
  readonly changed: readonly string[];
}

const profilesInLua = Object.entries(profileCodes)
  .map(([name, code]) => `['/${name}'] = ${code}`)
  .join(', ');

/**
 * Lua: `packSubmitted(id, fields)` gives facts and names of a job that nobody has begun; nothing for any other. The fields:
 * data, timestamp, finishedOn, atm.
 *
 * The request is read by a pattern of its first members as the service writes them, none with an escape in it: parsing it would
 * take Redis longer than all the rest. What is written otherwise does not fit, and is left.
 */
const packScript = `
local profiles = { ${profilesInLua} }
local profileCodes, apHashes = {}, {}
local function profileCode(uri)
  if not profileCodes[uri] then
    profileCodes[uri] = 0
    for ending, code in pairs(profiles) do
      if string.sub(uri, -#ending) == ending then profileCodes[uri] = code end
    end
  end
  return profileCodes[uri]
end
local function apHash(apId)
  if not apHashes[apId] then apHashes[apId] = tonumber(string.sub(redis.sha1hex(apId), 1, 8), 16) end
  return apHashes[apId]
end
local text = '[^"\\\\]*'
local written = '^{"MSS_SignatureReq":{"MajorVersion":"' .. text .. '","MinorVersion":"' .. text
  .. '","AP_Info":{"AP_ID":"(' .. text .. ')","AP_TransID":"(' .. text .. ')","Instant":"' .. text
  .. '"},"MSSP_Info":{"MSSP_ID":{"URI":"' .. text .. '"}},"MobileUser":{"MSISDN":"%+?(%d+)"},"MessagingMode":"' .. text
  .. '","SignatureProfile":"(' .. text .. ')"'
local function packSubmitted(id, fields)
  local data, timestamp = fields[1], fields[2]
  if not data or fields[3] or (fields[4] and fields[4] ~= '0') then return end
  if #id > ${idWidth} or string.find(id, '%z') then return end
  local time = timestamp and string.match(timestamp, '^%d+$') and tonumber(timestamp)
  if not time or time == 0 or time > ${lastTime} then return end
  if fields[5] and fields[5] ~= '0' then return end
  if string.sub(data, -2) ~= '}}' or string.find(data, '"transaction"', 1, true) then return end
  local apId, apTransId, digits, profile = string.match(data, written)
  if not apId or #digits > 15 then return end
  local facts = struct.pack('<BBHBxxxdddI4I4',
    ${stateCodeOf('submitted')}, 1, 0, profileCode(profile), time, 0, tonumber(digits), apHash(apId), 0)
  local shown = string.sub(apTransId, 1, ${apTransIdWidth})
  local names = id .. string.rep('\\0', ${idWidth} - #id) .. shown .. string.rep('\\0', ${apTransIdWidth} - #shown)
  return facts, names
end`;

/**
 * KEYS: the two streams, the state. ARGV: where they were read to, how many events at once, the position by which all this
 * is so, base of the generation's keys, the changes' key, how long a minute is kept, now, what the jobs' keys begin with.
 */
const takeInScript = `${writeRowsScript}
${packScript}
if redis.call('HGET', KEYS[3], 'position') ~= ARGV[4] then return false end
local further = {}
${eventsScript(`
  local told = telling(event, id, fields)
  if told and event ~= 'added' then further[id] = true end
  return told`)}
if #gaps > 0 then return found end
local taken, allFacts, allNames = {}, {}, {}
for _, id in ipairs(ids) do
  local facts, names
  if not further[id] then
    local fields = redis.pcall('HMGET', ARGV[9] .. id, 'data', 'timestamp', 'finishedOn', 'atm', 'progress')
    if not fields.err then facts, names = packSubmitted(id, fields) end
  end
  if facts then
    taken[#taken + 1] = id
    allFacts[#taken], allNames[#taken] = facts, names
  else
    found[#found + 1] = id
  end
end
tellChanges(ARGV[6], writeRows(ARGV[5], taken, allFacts, allNames, tonumber(ARGV[7]), tonumber(ARGV[8])))
return found`;

/**
 * What is read of the jobs that are left after this is no older than what it tells.
 *
 * @param stands Where the index stands. It stays there: what was taken in here is taken in again, to the same end, should what
 *   is left not be written.
 * @param since  Where reading begins; it may be ahead of the index.
 * @returns What is left; undefined when the index does not stand there any more.
 */
export const takeIn = async (
  redis: RedisClient,
  keys: ShardKeys,
  stands: Position,
  since: EventPosition,
  now: number,
): Promise<Changes | undefined> => {
  const [streams, from] = eventsArguments(keys, since);
  const { base } = keys.generation(stands.generation);
  const found = await redis.eval(
    takeInScript,
    3,
    ...streams,
    keys.state,
    ...from,
    positionText(stands),
    base,
    keys.changes,
    countedMs,
    now,
    keys.signatures(''),
  );
  if (found === null) return undefined;
  const { rest, ...read } = readAnswer(found);
  return { ...read, changed: rest.map(String) };
};
