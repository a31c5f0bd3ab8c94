import { existsSync } from 'node:fs'
import { instant, milliseconds } from '../config/units.ts'
import type { Log } from '../log.ts'
import { LazyStore } from '../store/lazy-store.ts'
import type { UsageField, UsageGroup } from '../store/usage-records.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { table } from './table.ts'
import type { UsageOptions } from './usage-options.ts'
import { configAt } from './with-store.ts'

/** Maximum number of groups shown, those with the most requests first. */
const MAX_GROUPS = 10_000

/** `interlingua usage`: prints the summed usage of requests. Works while a gateway is running. */
export async function usageCommand(
  options: UsageOptions,
  config: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const { dataDir, store: storeConfig } = configAt(config)
  const now = Date.now()
  const [since, until] = [timeOf(options.since, now), options.until === undefined ? now : timeOf(options.until, now)]
  if (since >= until) throw new UsageError('--since must be before --until')
  if (storeConfig.engine === 'sqlite' && !existsSync(storeConfig.path)) return terminal.fault(NO_REQUESTS)
  const store = new LazyStore(storeConfig, dataDir, logTo(terminal))
  try {
    const query = { since, until, by: [options.by], percentiles: true, limit: MAX_GROUPS + 1 }
    const found = await store.usage.sums(query)
    const groups = found.slice(0, MAX_GROUPS)
    if (found.length > MAX_GROUPS) terminal.fault(INCOMPLETE)
    if (options.json)
      terminal.out(
        JSON.stringify(
          groups.map(group => recordOf(options.by, group)),
          undefined,
          2,
        ),
      )
    else if (options.csv) terminal.out(csv(options.by, groups))
    else if (groups.length === 0) terminal.fault(NO_REQUESTS)
    else terminal.out(table(rowsOf(options.by, groups), NUMBERS))
  } finally {
    await store.close()
  }
}

const INCOMPLETE = `There are more than ${MAX_GROUPS} rows; those with the fewest requests are left out.`
const NO_REQUESTS = 'No requests are recorded for that time.'

/** Returns a log that prints faults of the store to the terminal. */
const logTo = (terminal: Terminal): Log => ({
  info: () => {},
  warn: (fields: object, message: string) => {
    const { fault } = fields as { readonly fault?: string }
    terminal.fault(fault === undefined ? message : `${message}: ${fault}`)
  },
  error: (fields: object, message: string) => {
    const { err } = fields as { readonly err?: unknown }
    terminal.fault(err instanceof Error ? `${message}: ${err.message}` : message)
  },
})

/** Parses a duration before `now` such as `24h`, or an ISO 8601 time. */
function timeOf(text: string, now: number): number {
  const ago = milliseconds(text)
  if (ago !== undefined) return now - ago
  const time = instant(text)
  if (time !== undefined) return time
  throw new UsageError(`"${text}" is neither a duration such as 24h or 7d nor a time such as 2027-01-31T12:00:00Z`)
}

const COLUMNS = ['REQUESTS', 'ERRORS', 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'FIRST BYTE', 'P95', 'DURATION', 'P95']
/** Indexes of the numeric columns, which are all columns except the name. */
const NUMBERS: ReadonlySet<number> = new Set(COLUMNS.map((_, column) => column + 1))

const rowsOf = (by: UsageField, groups: readonly UsageGroup[]): string[][] => [
  [by.toUpperCase(), ...COLUMNS],
  ...groups.map(group => [
    nameOf(by, group),
    ...[group.requests, group.errors, group.input, group.cacheRead, group.output].map(grouped),
    dollars(group),
    ...[group.firstByte?.p50, group.firstByte?.p95, group.duration?.p50, group.duration?.p95].map(seconds),
  ]),
]

/** Returns the name shown for a group. A key is shown by name rather than id. */
const nameOf = (by: UsageField, { by: values, keyName }: UsageGroup): string =>
  (by === 'key' ? keyName : undefined) ?? values[by] ?? '-'

const grouped = (count: number): string => count.toLocaleString('en-US')

/** Formats the cost of requests with known prices, and the number of requests without a known price. */
function dollars({ cost, unpriced, requests }: UsageGroup): string {
  if (unpriced === requests) return 'unknown'
  const total = `$${amountOf(cost / 1e9)}`
  return unpriced === 0 ? total : `${total} + ${grouped(unpriced)} unknown`
}

/** Formats an amount. A tiny one, as of some embeddings, gets two digits rather than `0.0000`. */
const amountOf = (amount: number): string =>
  amount === 0 || amount >= 0.001
    ? amount.toFixed(amount >= 100 ? 2 : 4)
    : amount.toLocaleString('en-US', { maximumSignificantDigits: 2 })

const seconds = (time: number | undefined): string => (time === undefined ? '-' : `${(time / 1000).toFixed(2)}s`)

/** Formats a group for scripts: costs in dollars, times in milliseconds, `null` if unknown. */
function recordOf(by: UsageField, group: UsageGroup): { readonly [column: string]: string | number | null } {
  const { requests, errors, input, cacheRead, cacheWrite, output, reasoning, cost, unpriced, losses } = group
  const { cancelled, estimated } = group
  return {
    [by]: nameOf(by, group),
    ...(by === 'key' ? { key_id: group.by.key ?? null } : {}),
    ...{
      requests,
      errors,
      input_tokens: input,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
    },
    ...{ output_tokens: output, reasoning_tokens: reasoning, losses },
    ...{ cost_usd: unpriced === requests ? null : cost / 1e9, requests_of_unknown_cost: unpriced },
    ...{ first_byte_p50_ms: group.firstByte?.p50 ?? null, first_byte_p95_ms: group.firstByte?.p95 ?? null },
    ...{ duration_p50_ms: group.duration?.p50 ?? null, duration_p95_ms: group.duration?.p95 ?? null },
    ...{ cancelled_requests: cancelled, estimated_requests: estimated },
  }
}

const EMPTY_GROUP: UsageGroup = {
  ...{ by: {}, requests: 0, errors: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  ...{ inputAudio: 0, outputAudio: 0, cost: 0, unpriced: 0, losses: 0, cancelled: 0, estimated: 0 },
  lossKinds: { dropped: 0, changed: 0, moved: 0 },
}

const csv = (by: UsageField, groups: readonly UsageGroup[]): string =>
  [
    Object.keys(recordOf(by, EMPTY_GROUP)),
    ...groups.map(group =>
      Object.values(recordOf(by, group)).map(value => (value === null ? 'unknown' : String(value))),
    ),
  ]
    .map(row => row.map(quoted).join(','))
    .join('\n')

/**
 * Quotes a CSV value if needed (RFC 4180). Prefixes values that spreadsheets would read as formulas with an apostrophe.
 */
function quoted(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) && value !== '-' ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
