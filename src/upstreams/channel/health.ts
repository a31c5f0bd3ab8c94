import type { ErrorKind } from '../../canonical/error.ts'

/** The most models of one channel that rest at a time: callers may invent names where a channel takes any. */
const MOST_MODELS = 256
/** Milliseconds by which a rest must grow to be reported. */
const NOTABLE = 1000

/**
 * What of a channel rests after failures: all of it, or single models by the upstream's own names. Resting only changes
 * the order in which channels are tried (trap 100). Times are Unix milliseconds.
 */
export class Resting {
  private channel = 0
  private readonly byModel = new Map<string, number>()
  /** Called with what rests now, a model or else all of the channel, and until when; with 0 for what rests no longer. */
  onChange: (model: string | undefined, until: number) => void = () => {}

  /** Until when all of the channel rests; absent where it never has, or has answered since. */
  get until(): number | undefined {
    return this.channel === 0 ? undefined : this.channel
  }

  get models(): ReadonlyMap<string, number> {
    return this.byModel
  }

  restChannel(until: number): void {
    const previous = this.channel
    this.channel = Math.max(previous, until)
    if (until - previous > NOTABLE) this.onChange(undefined, until)
  }

  restModel(model: string, until: number, now: number): void {
    const previous = this.byModel.get(model) ?? 0
    this.byModel.delete(model)
    if (this.byModel.size >= MOST_MODELS) this.forget(now)
    this.byModel.set(model, Math.max(previous, until))
    if (until - previous > NOTABLE) this.onChange(model, until)
  }

  /** The model answered: neither it nor the channel needs rest. */
  wake(model: string): void {
    if (this.channel !== 0) {
      this.channel = 0
      this.onChange(undefined, 0)
    }
    if (this.byModel.size > 0 && this.byModel.delete(model)) this.onChange(model, 0)
  }

  /** A change of another process, which is not passed to `onChange` again. */
  apply(model: string | undefined, until: number, now: number): void {
    const { onChange } = this
    this.onChange = () => {}
    if (until === 0 && model !== undefined) this.byModel.delete(model)
    else if (until === 0) this.channel = 0
    else if (model === undefined) this.restChannel(until)
    else this.restModel(model, until, now)
    this.onChange = onChange
  }

  /** The number of channels and models that rest at that time. */
  count(now: number): { readonly channels: number; readonly models: number } {
    let models = 0
    for (const until of this.byModel.values()) if (until > now) models++
    return { channels: this.channel > now ? 1 : 0, models }
  }

  /** Makes room: drops those that rest no longer, or else the one that has rested longest. */
  private forget(now: number): void {
    for (const [model, until] of this.byModel) if (until <= now) this.byModel.delete(model)
    if (this.byModel.size < MOST_MODELS) return
    for (const oldest of this.byModel.keys()) {
      this.byModel.delete(oldest)
      return
    }
  }
}

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

/** Errors of requests themselves: they are no sign of the upstream's state. */
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
