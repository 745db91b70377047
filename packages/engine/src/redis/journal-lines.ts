/**
 * The journal of an instance (journal.ts) as the log that BullMQ keeps of a job: `<job>:logs`, a
 * list that is removed with the job, and that dashboards show. The field `dropped` of the job
 * counts the lines that were cut off.
 */
import { maxKeptLines, maxLines } from '../journal.ts';

/** The key under which BullMQ keeps the log of a job. */
export const logOf = (job: string): string => `${job}:logs`;

/**
 * `tellLines(job, log, lines, before)`: appends lines, each with a line break at its end, and cuts
 * the list when it is too long. `before` are lines that were given up earlier.
 */
export const tellLines = `
local function tellLines(job, log, lines, before)
  local given = {}
  for line in string.gmatch(lines, '[^\\n]+') do given[#given + 1] = line end
  local length = redis.call('RPUSH', log, unpack(given))
  local dropped = tonumber(before)
  if length > ${maxKeptLines} then
    redis.call('LTRIM', log, -${maxLines}, -1)
    dropped = dropped + length - ${maxLines}
  end
  if dropped > 0 then redis.call('HINCRBY', job, 'dropped', dropped) end
end`;

/**
 * `tellRefusal(job, log, line)`: appends the line of one refused event. If the same event was
 * refused right before, that line counts it instead, so that a sender that repeats itself does not
 * push out older lines.
 */
export const tellRefusal = `${tellLines}
local function tellRefusal(job, log, line)
  local last = redis.call('LINDEX', log, -1)
  local isRead, before = pcall(cjson.decode, last or '')
  local new = cjson.decode(line)
  if isRead and type(before) == 'table' and before[2] == 'event' and before[5] == 'refused'
    and before[3] == new[3] and before[4] == new[4] then
    new[7] = (tonumber(before[7]) or 1) + 1
    redis.call('LSET', log, -1, cjson.encode(new))
    return
  end
  tellLines(job, log, line .. '\\n', 0)
end`;
