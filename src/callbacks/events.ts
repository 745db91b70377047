/**
 * Which transactions of a shard have ended, by BullMQ's event streams, since a position in them. As in src/history/events.ts,
 * reading begins with the event that was read last: when it is no longer there, others may be gone with it.
 *
 * The streams tell of an end whoever caused it: a worker, a cancel, a job that was too often taken by workers that died.
 */
import { jobScript } from '../history/jobs.ts';
import type { ShardKeys } from '../history/keys.ts';
import { beginning } from '../history/position.ts';
import type { StoredFields } from '../history/row.ts';
import type { RedisClient } from '../redis/connect.ts';

export interface EventPosition {
  readonly signatures: string;
  readonly receipts: string;
}

export interface Ended {
  readonly ids: readonly string[];
  readonly position: EventPosition;
  /** There may have been more than is still told. */
  readonly gap: boolean;
  /** There is more to be read. */
  readonly more: boolean;
}

const eventsAtOnce = 600;
const jobsAtOnce = 100;

/** KEYS: the two streams. ARGV: where they were read to, how many events at once. */
const endedScript = `
local most = tonumber(ARGV[3])
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
    gap = 1
  end
  local last = since
  for i = first, #entries do
    local fields = entries[i][2]
    last = entries[i][1]
    local id = told(field(fields, 'event'), field(fields, 'jobId') or '')
    if id and not known[id] then
      known[id] = true
      ids[#ids + 1] = id
    end
  end
  return last
end
local signatures = read(KEYS[1], ARGV[1], function(event, id)
  return (event == 'completed' or event == 'failed') and id
end)
local receipts = read(KEYS[2], ARGV[2], function(event, id)
  return event == 'completed' and string.match(id, '^(.+)%-receipt$')
end)
local found = { gap, more, signatures, receipts }
for _, id in ipairs(ids) do found[#found + 1] = id end
return found`;

export const readEnded = async (
  redis: RedisClient,
  keys: ShardKeys,
  { signatures, receipts }: EventPosition,
): Promise<Ended> => {
  const found = await redis.eval(
    endedScript,
    2,
    keys.signatures('events'),
    keys.receipts('events'),
    signatures,
    receipts,
    eventsAtOnce,
  );
  const [gap, more, toSignatures, toReceipts, ...ids] = found as [
    number,
    number,
    string,
    string,
    ...string[],
  ];
  return {
    ids,
    position: { signatures: toSignatures, receipts: toReceipts },
    gap: gap === 1,
    more: more === 1,
  };
};

const jobsScript = `${jobScript}
local found = {}
for i = 2, #ARGV do found[#found + 1] = job(ARGV[1], ARGV[i]) end
return found`;

/** @returns What src/history/row.ts reads rows from, for each id. */
export const readJobs = async (
  redis: RedisClient,
  keys: ShardKeys,
  ids: readonly string[],
): Promise<readonly StoredFields[]> => {
  const jobs: StoredFields[] = [];
  for (let first = 0; first < ids.length; first += jobsAtOnce) {
    const some = ids.slice(first, first + jobsAtOnce);
    const found = await redis.eval(jobsScript, 1, keys.signatures('meta'), keys.signatures(''), ...some);
    jobs.push(...(found as StoredFields[]));
  }
  return jobs;
};
