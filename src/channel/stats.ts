import type { ErrorKind } from '../canonical/error.ts'

/** Minutes that are remembered. */
export const MINUTES = 60
/** Errors that are remembered. */
export const LAST_ERRORS = 20
const MINUTE = 60_000

/** What an upstream did wrong, for administrators: without credentials. Times are Unix milliseconds. */
export interface ChannelError {
  readonly at: number
  readonly kind: ErrorKind
  /** The upstream's status, where it answered. */
  readonly status?: number
  readonly message: string
  /** The upstream's name of the model. */
  readonly model: string
}

/** Counts of a channel by minute, plain JSON: they are sent to other processes. */
export interface StatsSnapshot {
  /** Minutes since 1970 that had requests, and how many of these failed. */
  readonly minutes: readonly (readonly [minute: number, requests: number, errors: number])[]
  /** The latest first. */
  readonly errors: readonly ChannelError[]
}

/** Errors of requests themselves: they say nothing about the upstream. */
const OF_REQUESTS: ReadonlySet<ErrorKind> = new Set([
  ...(['invalid-request', 'context-too-long', 'too-large', 'not-found'] as const),
  ...(['conflict', 'cancelled', 'cannot-express'] as const),
])

/** The requests of one channel in the last hour. A count takes no memory. */
export class ChannelStats {
  private readonly stamps = new Float64Array(MINUTES)
  private readonly requests = new Uint32Array(MINUTES)
  private readonly failures = new Uint32Array(MINUTES)
  private readonly last: ChannelError[] = []

  succeeded(now = Date.now()): void {
    this.count(now, false)
  }

  failed(error: ChannelError): void {
    this.count(error.at, !OF_REQUESTS.has(error.kind))
    if (this.last.length === LAST_ERRORS) this.last.pop()
    this.last.unshift(error)
  }

  snapshot(now = Date.now()): StatsSnapshot {
    const first = Math.floor(now / MINUTE) - MINUTES
    const minutes: [number, number, number][] = []
    for (const [slot, minute] of this.stamps.entries())
      if (minute > first) minutes.push([minute, this.requests[slot]!, this.failures[slot]!])
    return { minutes: minutes.sort(([one], [other]) => one - other), errors: [...this.last] }
  }

  private count(now: number, isFailure: boolean): void {
    const minute = Math.floor(now / MINUTE)
    const slot = minute % MINUTES
    if (this.stamps[slot] !== minute) {
      this.stamps[slot] = minute
      this.requests[slot] = 0
      this.failures[slot] = 0
    }
    this.requests[slot]!++
    if (isFailure) this.failures[slot]!++
  }
}

/** The counts of several processes as one. */
export function mergedStats(all: readonly StatsSnapshot[]): StatsSnapshot {
  const byMinute = new Map<number, [number, number, number]>()
  for (const [minute, requests, errors] of all.flatMap(({ minutes }) => minutes)) {
    const [, before, failed] = byMinute.get(minute) ?? [minute, 0, 0]
    byMinute.set(minute, [minute, before + requests, failed + errors])
  }
  const errors = all.flatMap(one => one.errors).sort((one, other) => other.at - one.at)
  return {
    minutes: [...byMinute.values()].sort(([one], [other]) => one - other),
    errors: errors.slice(0, LAST_ERRORS),
  }
}

/** The sums of the last minutes, the current one included. */
export function sumOf(
  { minutes }: StatsSnapshot,
  count: number,
  now = Date.now(),
): { readonly requests: number; readonly errors: number } {
  const first = Math.floor(now / MINUTE) - count
  let sum = { requests: 0, errors: 0 }
  for (const [minute, requests, errors] of minutes)
    if (minute > first) sum = { requests: sum.requests + requests, errors: sum.errors + errors }
  return sum
}
