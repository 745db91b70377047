/** The parts of scripts in Redis that find a row in its chunk, and write rows and counters. */
import { type Fact, type RowLayout, rowsInChunk } from './layout.ts';
import { stateCodes, transactionFacts } from './packed-row.ts';

/** Units and retention of counters: minutes for 25 hours, hours for 31 days. */
export const counted = {
  minute: { ms: 60_000, keptMs: 25 * 3_600_000 },
  hour: { ms: 3_600_000, keptMs: 31 * 86_400_000 },
} as const;
export type CountedUnit = keyof typeof counted;
/** Durations are counted in buckets, eight to a doubling: a percentile is within five per cent. */
const bucketsInDoubling = 8;
/** The duration in the middle of a bucket, milliseconds. */
export const bucketMs = (bucket: number): number => 2 ** ((bucket + 0.5) / bucketsInDoubling);

/** Lua counts bytes from 1. */
const first = ({ packed }: Fact<never, unknown>): number => packed.at + 1;

/** Lua: the widths, and `place(number)`: the chunk of a row and its place in it. */
export const chunkScript = ({ factsWidth, namesWidth }: RowLayout): string => `
local rows, factsWidth, namesWidth = ${rowsInChunk}, ${factsWidth}, ${namesWidth}
local function place(number)
  local chunk = math.floor(number / rows)
  return string.format('%d', chunk), number - chunk * rows
end`;

/** Lua: the units of counters, and `countEnd(facts, count)`, which counts the end of a row. */
export const transactionCounters = `
local units = {${Object.entries(counted).map(([unit, { ms, keptMs }]) => `${unit} = {${ms}, ${keptMs}}`)}}
local function countEnd(facts, count)
  local ended = struct.unpack('<d', facts, ${first(transactionFacts.endedAt)})
  if string.byte(facts, ${first(transactionFacts.state)}) == ${stateCodes.failed} then
    return count(ended, 'f' .. string.format('%d', struct.unpack('<H', facts, ${first(transactionFacts.fault)})))
  end
  count(ended, 'signed')
  local took = struct.unpack('<I4', facts, ${first(transactionFacts.tookMs)})
  if took > 0 then
    count(ended, 't' .. string.format('%d', math.floor(math.log(took) / math.log(2) * ${bucketsInDoubling})))
  end
end`;
/** Lua: a list without counters. */
export const noCounters = `
local units = {}
local function countEnd() end`;

/**
 * Lua: `writeRows(base, ids, facts, names, now)` writes packed rows (packed-row.ts), and
 * returns the ids whose rows have changed; `tellChanges(key, ids)` tells live pages.
 *
 * Counters of a minute and of an hour: `submitted`, `signed`, `f401`, and `t80` for a bucket of
 * signing times.
 *
 * New rows are adjacent, so all of a chunk are written at once. They are written first:
 * an id may occur twice, and the second time its row must be found.
 *
 * Keys of rows and minutes are not declared, because they depend on what is found. They share the
 * slot of the state.
 */
export const writeRowsScript = (layout: RowLayout, counters: string): string => {
  /** The bytes of the time of the end. */
  const endIn = (row: string): string =>
    `string.sub(${row}, ${first(layout.endedAt)}, ${first(layout.endedAt) + 7})`;
  return `${chunkScript(layout)}
${counters}
local gone, openEnd = string.rep('\\0', factsWidth), string.rep('\\0', 8)
local function writeRows(base, ids, allFacts, allNames, now)
  local at, meta, spans = base .. ':at', base .. ':meta', base .. ':spans'
  local counts, changed = {}, {}
  local function count(time, field)
    for unit, bounds in pairs(units) do
      if time > now - bounds[2] and time < now + bounds[2] then
        local number = math.floor(time / bounds[1])
        counts[unit] = counts[unit] or {}
        local fields = counts[unit][number] or {}
        fields[field] = (fields[field] or 0) + 1
        counts[unit][number] = fields
      end
    end
  end

  local first = tonumber(redis.call('HGET', meta, 'next') or '0')
  local following = first
  local numbers, numbered, later, written = {}, {}, {}, {}
  if #ids > 0 then
    local known = redis.call('HMGET', at, unpack(ids))
    for i, id in ipairs(ids) do numbers[id] = tonumber(known[i]) end
  end
  for i, id in ipairs(ids) do
    local facts = allFacts[i]
    if numbers[id] then
      later[#later + 1] = i
    elseif facts ~= gone then
      local number = following
      following = following + 1
      numbers[id] = number
      numbered[#numbered + 1] = id
      numbered[#numbered + 1] = string.format('%d', number)
      local chunk, row = place(number)
      local rowsOf = written[chunk]
      local submitted = struct.unpack('<d', facts, ${first(layout.begunAt)})
      if not rowsOf then
        rowsOf = { row = row, facts = {}, names = {}, least = submitted, greatest = submitted }
        written[chunk] = rowsOf
      end
      rowsOf.facts[#rowsOf.facts + 1] = facts
      rowsOf.names[#rowsOf.names + 1] = allNames[i]
      rowsOf.least, rowsOf.greatest = math.min(rowsOf.least, submitted), math.max(rowsOf.greatest, submitted)
      count(submitted, 'submitted')
      if ${endIn('facts')} ~= openEnd then countEnd(facts, count) end
      changed[#changed + 1] = id
    end
  end
  if following > first then
    redis.call('HSET', at, unpack(numbered))
    redis.call('HSET', meta, 'next', string.format('%d', following))
  end
  for chunk, some in pairs(written) do
    for name, width in pairs({ facts = factsWidth, names = namesWidth }) do
      local key = base .. ':' .. name .. ':' .. chunk
      if some.row == 0 then redis.call('SET', key, string.rep('\\0', rows * width)) end
      redis.call('SETRANGE', key, some.row * width, table.concat(some[name]))
    end
    local least, greatest = string.match(redis.call('HGET', spans, chunk) or '', '^(%d+) (%d+)$')
    redis.call('HSET', spans, chunk, string.format('%.0f %.0f',
      math.min(some.least, tonumber(least or some.least)), math.max(some.greatest, tonumber(greatest or some.greatest))))
  end

  for _, i in ipairs(later) do
    local id, facts = ids[i], allFacts[i]
    local chunk, row = place(numbers[id])
    local key, from = base .. ':facts:' .. chunk, row * factsWidth
    local before = redis.call('GETRANGE', key, from, from + factsWidth - 1)
    if before ~= facts then
      redis.call('SETRANGE', key, from, facts)
      if facts == gone then
        redis.call('SETRANGE', base .. ':names:' .. chunk, row * namesWidth, string.rep('\\0', namesWidth))
        redis.call('HDEL', at, id)
      elseif ${endIn('facts')} ~= openEnd and ${endIn('before')} ~= ${endIn('facts')} then
        countEnd(facts, count)
      end
      changed[#changed + 1] = id
    end
  end

  for unit, numbers in pairs(counts) do
    for number, fields in pairs(numbers) do
      local key = base .. ':' .. unit .. ':' .. string.format('%.0f', number)
      for field, some in pairs(fields) do redis.call('HINCRBY', key, field, some) end
      redis.call('PEXPIRE', key, units[unit][2])
    end
  end
  return changed
end
local function tellChanges(key, changed)
  if #changed == 0 then return end
  local list = '*'
  if #changed <= 100 then list = table.concat(changed, ' ') end
  redis.call('XADD', key, 'MAXLEN', '~', 100, '*', 'ids', list)
end`;
};
