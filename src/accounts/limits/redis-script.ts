import { createHash } from 'node:crypto'
import type { RedisScript } from '../../store/cluster/redis.ts'

/* Counts as in `KeyCount`, but in Redis and by Redis's clock. `test/accounts/limits/engines.test.ts` compares both. */

/** Builds a script with the hash under which Redis caches the script. */
const scriptOf = (source: string): RedisScript => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
})

/** Deletes a value that is no set of slots. */
const WITHOUT_OTHER_TYPE = (key: string): string =>
  `if type(redis.pcall('ZCARD', ${key})) ~= 'number' then redis.call('DEL', ${key}) end`

/**
 * Applies one step.
 *
 * KEYS: the counts of a key (a hash), and its slots (a sorted set, scored by end of lease).
 *
 * ARGV: rpm, tpm, concurrent, day, month, requests, tokens, cost, enter, leave, 1 if enforced, milliseconds since the
 * reservation, initial day, initial month, time of initial, milliseconds of a lease, maximum level of requests, maximum
 * level of tokens, 1 if the initial amounts are also the least ones. Absent values are empty.
 *
 * Another program may have written other values under the same names. They count as absent, because an error would
 * count as an outage of Redis.
 *
 * Returns an empty list if the earlier spend is unknown. Otherwise: 1 if refused, levels of requests and tokens, waits
 * for requests and tokens in milliseconds, 1 if no slot is free, 1 if the day's budget is reached, 1 if the month's
 * budget is reached, free slots, and what is left of the day's and of the month's budget.
 */
export const STEP = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local MINUTE, DEBT, DAY = 60000, 1440, 86400000
local function number(index) return tonumber(ARGV[index]) end
local function exact(value) return string.format('%.17g', value) end

local function day_of(at) return math.floor(at / DAY) end
local function month_of(at)
  local z = day_of(at) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  return (yoe + era * 400 + (month <= 2 and 1 or 0)) * 12 + month - 1
end

local held = redis.pcall('HMGET', KEYS[1], 'r', 'rl', 'ra', 't', 'tl', 'ta', 'd', 'dp', 'm', 'mp', 'db', 'dbp', 'mb', 'mbp')
if held.err then
  redis.call('DEL', KEYS[1])
  held = {}
end
for index = 1, 14 do
  local value = held[index] and tonumber(held[index])
  held[index] = value and value > -1e300 and value < 1e300 and value or nil
end
for _, group in ipairs({ { 1, 3 }, { 4, 6 }, { 7, 8 }, { 9, 10 }, { 11, 12 }, { 13, 14 } }) do
  local whole = true
  for index = group[1], group[2] do whole = whole and held[index] end
  if not whole then for index = group[1], group[2] do held[index] = nil end end
end

local function level(index, limit)
  if not limit then return nil end
  local units, before, at = held[index], held[index + 1], held[index + 2]
  if not units then return limit end
  units = math.min(before, units + math.max(0, now - at) * before / MINUTE)
  if before ~= limit then units = math.min(limit, units + (limit - before)) end
  return units
end
local function wait(units, limit, wanted)
  local needed = math.max(1, math.min(wanted, limit))
  if units >= needed then return 0 end
  if limit == 0 then return (DEBT + 1) * MINUTE end
  return math.min((DEBT + 1) * MINUTE, MINUTE * (needed - units) / limit)
end
local function take(units, limit, wanted)
  return math.min(limit, math.max(units - wanted, -DEBT * limit))
end
local turned = {}
local function spent(index, name, limit, period_of, initial)
  local amount, period, current = held[index], held[index + 1], period_of(now)
  local before, its = held[index + 4], held[index + 5]
  local found, least = nil, 0
  if limit and initial and ARGV[19] == '1' and period_of(number(15)) == current then least = initial end
  if amount and period == current then return math.max(amount, least) end
  if amount and its == current then found = math.max(before, least)
  elseif amount and period < current then found = least
  elseif limit and initial then found = period_of(number(15)) == current and initial or 0
  else return nil end
  if amount then
    for _, value in ipairs({ name .. 'b', exact(amount), name .. 'bp', period }) do turned[#turned + 1] = value end
  end
  return found
end

local rpm, tpm, concurrent, day, month = number(1), number(2), number(3), number(4), number(5)
local requests, tokens, cost = number(6), number(7), number(8)
local enter, leave, enforced, reserved = ARGV[9], ARGV[10], ARGV[11] == '1', now - (number(12) or 0)
-- Adds the cost to the period in which it was reserved, if that is the current or the previous one.
local function charged(index, name, amount, period_of)
  local period = period_of(reserved)
  if period == period_of(now) then return amount and math.max(0, amount + cost) end
  local turns = amount and held[index] and held[index + 1] ~= period_of(now)
  local function put(field, value) turned[#turned + 1] = field; turned[#turned + 1] = exact(math.max(0, value + cost)) end
  if held[index] and held[index + 1] == period then put(turns and name .. 'b' or name, held[index])
  elseif not turns and held[index + 4] and held[index + 5] == period then put(name .. 'b', held[index + 4]) end
  return amount
end
local requests_level, tokens_level = level(1, rpm), level(4, tpm)
if rpm and number(17) then requests_level = math.min(requests_level, number(17)) end
if tpm and number(18) then tokens_level = math.min(tokens_level, number(18)) end
local day_spent, month_spent = spent(7, 'd', day, day_of, number(13)), spent(9, 'm', month, month_of, number(14))
if concurrent or leave ~= '' then
  ${WITHOUT_OTHER_TYPE('KEYS[2]')}
end
local requests_wait, tokens_wait, full, no_day, no_month = 0, 0, 0, 0, 0

if enforced then
  if (day and not day_spent) or (month and not month_spent) then return {} end
  if rpm and requests > 0 then requests_wait = wait(requests_level, rpm, requests) end
  if tpm and (requests > 0 or tokens > 0) then tokens_wait = wait(tokens_level, tpm, tokens) end
  if concurrent and enter ~= '' then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
    -- Leases this long are of a clock that was set back. They end when a new lease would.
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. exact(now + number(16)), '+inf')) do
      redis.call('ZADD', KEYS[2], now + number(16), name)
    end
    local is_in = redis.call('ZSCORE', KEYS[2], enter)
    if not is_in and redis.call('ZCARD', KEYS[2]) >= concurrent then full = 1 end
  end
  if day and not (day_spent < day and day_spent + cost <= day) then no_day = 1 end
  if month and not (month_spent < month and month_spent + cost <= month) then no_month = 1 end
end
local refused = requests_wait > 0 or tokens_wait > 0 or full == 1 or no_day == 1 or no_month == 1

if not refused then
  if rpm and requests ~= 0 then requests_level = take(requests_level, rpm, requests) end
  if tpm and tokens ~= 0 then tokens_level = take(tokens_level, tpm, tokens) end
  if cost ~= 0 then
    day_spent, month_spent = charged(7, 'd', day_spent, day_of), charged(9, 'm', month_spent, month_of)
  end
  if concurrent and enter ~= '' then
    local lease = number(16)
    redis.call('ZADD', KEYS[2], now + lease, enter)
    redis.call('PEXPIRE', KEYS[2], 2 * lease)
  end
  if leave ~= '' then redis.call('ZREM', KEYS[2], leave) end
end

local kept, ttl = {}, 0
local function keep(name, value) kept[#kept + 1] = name; kept[#kept + 1] = exact(value) end
local function keep_level(name, units, limit)
  if not limit then return end
  keep(name, units)
  keep(name .. 'l', limit)
  keep(name .. 'a', now)
  if limit > 0 then ttl = math.max(ttl, MINUTE * (limit - units) / limit) end
end
local function keep_spent(name, amount, period)
  if not amount then return end
  keep(name, amount)
  keep(name .. 'p', period)
  ttl = 32 * DAY
end
keep_level('r', requests_level, rpm)
keep_level('t', tokens_level, tpm)
keep_spent('d', day_spent, day_of(now))
keep_spent('m', month_spent, month_of(now))
if #turned > 0 then redis.call('HSET', KEYS[1], unpack(turned)) end
if #kept > 0 then
  redis.call('HSET', KEYS[1], unpack(kept))
  redis.call('PEXPIRE', KEYS[1], math.ceil(ttl) + MINUTE)
end

local function text(value) return value and exact(value) or '' end
local free = concurrent and concurrent - redis.call('ZCARD', KEYS[2])
return { refused and '1' or '0', text(requests_level), text(tokens_level), exact(requests_wait), exact(tokens_wait),
  tostring(full), tostring(no_day), tostring(no_month), text(free),
  text(day and day_spent and day - day_spent), text(month and month_spent and month - month_spent) }
`)

/**
 * Renews the leases of slots. KEYS: the set of slots, once per slot. ARGV: milliseconds of a lease, then the names of
 * the slots.
 */
export const RENEW = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[1])
for index, key in ipairs(KEYS) do
  ${WITHOUT_OTHER_TYPE('key')}
  redis.call('ZADD', key, now + lease, ARGV[index + 1])
  redis.call('PEXPIRE', key, 2 * lease)
end
return #KEYS
`)

/** Releases the slots of an owner. KEYS: the set of slots of a key. ARGV: the prefix of the owner's slot names. */
export const RELEASE = scriptOf(`
local released = 0
for _, key in ipairs(KEYS) do
  ${WITHOUT_OTHER_TYPE('key')}
  for _, name in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if string.sub(name, 1, #ARGV[1]) == ARGV[1] then released = released + redis.call('ZREM', key, name) end
  end
end
return released
`)

/**
 * Fails if the server is no primary, or has no memory for new values. KEYS: the name of a value that nobody reads.
 */
export const PROBE = scriptOf(`
redis.call('HSET', KEYS[1], 'probe', '1')
return redis.call('PEXPIRE', KEYS[1], 1)
`)
