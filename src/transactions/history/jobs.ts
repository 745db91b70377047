/**
 * Reads the fields of jobs from which rows are made. Many jobs are read by one script: a command
 * for each would cost this process more than all its other work on them.
 *
 * The keys of the jobs are not declared, because they depend on what is found. They share the slot
 * of the declared key.
 */
import type { RedisClient } from '../../redis/connect.ts';
import type { ShardKeys } from './keys.ts';
import { type Entry, isKeptId } from './packed-row.ts';
import { jobFields, rowOf, type StoredFields, type TransactionRow } from './row.ts';

/** The number of a field in Lua. */
const place = (name: (typeof jobFields)[number]): number => jobFields.indexOf(name) + 1;

/**
 * Lua: the fields of a job; none where there is no job, or the id names one of BullMQ's own keys.
 * An open job has no end, a signed one no record; the signature, half of a job, is left out.
 */
export const jobScript = `
local function job(prefix, id)
  local fields = redis.pcall('HMGET', prefix .. id, ${jobFields.map((field) => `'${field}'`).join(', ')})
  if fields.err then return {} end
  local result = fields[${place('finishedOn')}] and fields[${place('returnvalue')}]
  if not fields[${place('finishedOn')}] then fields[${place('failedReason')}] = false end
  if result then
    fields[${place('progress')}] = false
    local _, from = string.find(result, '"cms":"', 1, true)
    local till = from and string.find(result, '"', from + 1, true)
    if till then result = string.sub(result, 1, from) .. string.sub(result, till) end
  end
  fields[${place('returnvalue')}] = result
  return fields
end`;

const readScript = `${jobScript}
local found = {}
for i = 2, #ARGV do found[#found + 1] = job(ARGV[1], ARGV[i]) end
return found`;

const readAtOnce = 250;

/** @returns The fields of each job, in the same order; none where there is no such job. */
export const readJobs = async (
  redis: RedisClient,
  keys: ShardKeys,
  ids: readonly string[],
): Promise<readonly StoredFields[]> => {
  const jobs: StoredFields[] = [];
  for (let first = 0; first < ids.length; first += readAtOnce) {
    const some = ids.slice(first, first + readAtOnce);
    const found = await redis.eval(readScript, 1, keys.state, keys.signatures(''), ...some);
    jobs.push(...(found as readonly StoredFields[]));
  }
  return jobs;
};

/** @returns One for each id, in the same order; undefined where there is no such job. */
export const readRows = async (
  redis: RedisClient,
  keys: ShardKeys,
  ids: readonly string[],
): Promise<readonly (TransactionRow | undefined)[]> => {
  const jobs = await readJobs(redis, keys, ids);
  return ids.map((id, index) => rowOf(id, jobs[index] ?? []));
};

/** The current entries of these transactions for the index, oldest first. */
export const readEntries = async (
  redis: RedisClient,
  keys: ShardKeys,
  ids: readonly string[],
): Promise<readonly Entry[]> => {
  const kept = ids.filter(isKeptId);
  const rows = await readRows(redis, keys, kept);
  return kept
    .map((id, index) => ({ id, row: rows[index] }))
    .sort((a, b) => (a.row?.submittedAt ?? 0) - (b.row?.submittedAt ?? 0));
};
