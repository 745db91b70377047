/**
 * Follows the events and indexes jobs that have just been submitted, inside Redis.
 *
 * Most events of a busy queue tell of such jobs. Reading them and writing their rows back would
 * cost Redis twice as much, and this process several times that. All other jobs are left to `rowOf`
 * (row.ts). Both ways give the same row: test/transactions/history/index-submitted.test.ts.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { type Changes, eventsArguments, eventsScript, readAnswer } from './events.ts';
import type { ShardKeys } from './keys.ts';
import { packSubmitted } from './layout.ts';
import {
  apTransIdWidth,
  factsWidth,
  idWidth,
  profileCodes,
  transactionFacts,
  transactionLayout,
} from './packed-row.ts';
import { type EventPosition, type Position, positionText } from './position.ts';
import { lastTime } from './row.ts';
import { transactionCounters, writeRowsScript } from './rows-script.ts';

const profilesInLua = Object.entries(profileCodes)
  .map(([name, code]) => `['/${name}'] = ${code}`)
  .join(', ');

/** The largest request that is parsed inside Redis. Most have a few hundred bytes. */
const maxBytes = 8192;

/**
 * Lua: `packSubmitted(id, fields)` gives facts and names of a job that was not begun, and nothing
 * for any other. The fields: data, timestamp, finishedOn, atm, progress.
 *
 * cjson accepts a little more than JSON. For such data `rowOf` gives an empty row, and the index
 * finds too much, which the search corrects.
 */
const packScript = `
local profiles = { ${profilesInLua} }
local profileCodes = {}
local function profileCode(uri)
  if not profileCodes[uri] then
    profileCodes[uri] = 0
    for ending, code in pairs(profiles) do
      if string.sub(uri, -#ending) == ending then profileCodes[uri] = code end
    end
  end
  return profileCodes[uri]
end
local function member(value, name) return type(value) == 'table' and value[name] end
local function packSubmitted(id, fields)
  local data, timestamp, finishedOn, endedRuns, progress = unpack(fields, 1, 5)
  if not data or #data > ${maxBytes} or finishedOn or (endedRuns or '0') ~= '0' or (progress or '0') ~= '0' then return end
  if #id > ${idWidth} or string.find(id, '%z') then return end
  local time = timestamp and string.match(timestamp, '^%d+$') and tonumber(timestamp)
  if not time or time == 0 or time > ${lastTime} then return end
  local isRead, job = pcall(cjson.decode, data)
  if not isRead then return end
  local request = member(job, 'MSS_SignatureReq')
  local caller, profile = member(request, 'AP_Info'), member(request, 'SignatureProfile')
  local apId, apTransId = member(caller, 'AP_ID'), member(caller, 'AP_TransID')
  local msisdn = member(member(request, 'MobileUser'), 'MSISDN')
  if type(apId) ~= 'string' or type(apTransId) ~= 'string' or type(profile) ~= 'string' then return end
  local digits = type(msisdn) == 'string' and string.match(msisdn, '^%+?(%d+)$')
  if not digits or #digits > 15 then return end
  local facts = ${packSubmitted(transactionFacts, factsWidth)}
  local shown = string.sub(apTransId, 1, ${apTransIdWidth})
  local names = id .. string.rep('\\0', ${idWidth} - #id) .. shown .. string.rep('\\0', ${apTransIdWidth} - #shown)
  return facts, names
end`;

/**
 * KEYS: the two streams, the state. ARGV: where they were read to, how many events at once, the
 * position on which this rests, base of the generation's keys, the changes' key, now, prefix of the
 * jobs' keys.
 */
const indexSubmittedScript = `${writeRowsScript(transactionLayout, transactionCounters)}
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
    local fields = redis.pcall('HMGET', ARGV[8] .. id, 'data', 'timestamp', 'finishedOn', 'atm', 'progress')
    if not fields.err then facts, names = packSubmitted(id, fields) end
  end
  if facts then
    taken[#taken + 1] = id
    allFacts[#taken], allNames[#taken] = facts, names
  else
    found[#found + 1] = id
  end
end
tellChanges(ARGV[6], writeRows(ARGV[5], taken, allFacts, allNames, tonumber(ARGV[7])))
return found`;

/**
 * Reads events and indexes their jobs that were just submitted. Jobs that are read after this call
 * are at least as new as the events.
 *
 * @param stands Where the index stands. It stays there: if the rest cannot be written, all of this
 *   is read and indexed again, with the same result.
 * @param since  Where reading begins; it may be ahead of the index.
 * @returns The transactions that are left to the caller, none where there is a gap; undefined when
 *   the index stands elsewhere.
 */
export const indexSubmitted = async (
  redis: RedisClient,
  keys: ShardKeys,
  stands: Position,
  since: EventPosition,
  now: number,
): Promise<Changes | undefined> => {
  const [streams, from] = eventsArguments(keys, since);
  const { base } = keys.generation(stands.generation);
  const claim = [positionText(stands), base, keys.changes, now, keys.signatures('')];
  const found = await redis.eval(
    indexSubmittedScript,
    3,
    ...streams,
    keys.state,
    ...from,
    ...claim,
  );
  if (found === null) return undefined;
  const { rest, ...read } = readAnswer(found);
  return { ...read, ids: rest.map(String) };
};
