import type { ErrorKind, FailureReason } from '../../canonical/error.ts'
import { defined } from '../../canonical/node.ts'
import { isOngoing, possibleEnd } from '../channel-health.ts'

/**
 * Maximum number of resting models per channel. Needed because callers may invent names if a channel accepts any model.
 */
const MAX_MODELS = 256
/** Minimum extension of a rest for it to be reported to other processes, in milliseconds. */
const MIN_EXTENSION = 1000
/** Time after which another request tries a silent channel, in milliseconds. */
const TRIAL_INTERVAL = 15_000

/** Why a whole channel rests. */
export interface RestReason {
  /** Kind of the error with which the upstream permanently refused the key. */
  readonly refusal?: ErrorKind | undefined
  /** True if the upstream did not answer in time. */
  readonly silent?: boolean | undefined
}

/**
 * Resting state after failures, of a whole channel or of single models by the upstream's names. Resting targets are
 * tried last (trap 100). Times are Unix milliseconds.
 */
export class RestingState {
  private channelRestEnd = 0
  /** Time of the last failure that rested the channel, in milliseconds of the monotonic clock. */
  private channelFailedAt = 0
  private readonly parent: RestingState | undefined
  private refusalKind: ErrorKind | undefined
  private hasFallenSilent = false
  private readonly modelRestEnds = new Map<string, number>()
  /** Times of the last failures of the resting models, in milliseconds of the monotonic clock. */
  private readonly modelsFailedAt = new Map<string, number>()
  /**
   * Called at each change with the model, or undefined for the whole channel, and with the end of the rest, or 0 if the
   * rest is over.
   */
  onChange: (model: string | undefined, until: number) => void = () => {}

  /** @param parent the state of the channel to which a pool's key belongs. */
  constructor(parent?: RestingState) {
    this.parent = parent
  }

  /**
   * Kind of the error with which the upstream permanently refused the key, or undefined if the key does not rest for
   * this reason.
   */
  get refusal(): ErrorKind | undefined {
    return this.refusalKind
  }

  /** True if the upstream did not answer in time and has not answered since. */
  get isSilent(): boolean {
    return this.hasFallenSilent
  }

  /** End of the whole channel's rest, or undefined if the channel has never rested or has answered since. */
  get until(): number | undefined {
    return this.channelRestEnd === 0 ? undefined : this.channelRestEnd
  }

  /** Returns true if the whole channel rests at this time. */
  rests(now: number): boolean {
    return isOngoing(this.channelRestEnd, now)
  }

  get models(): ReadonlyMap<string, number> {
    return this.modelRestEnds
  }

  restChannel(until: number, { refusal, silent = false }: RestReason = {}): void {
    const previous = possibleEnd(this.channelRestEnd, until)
    this.channelRestEnd = Math.max(previous, until)
    this.channelFailedAt = performance.now()
    this.refusalKind = refusal ?? this.refusalKind
    this.hasFallenSilent ||= silent
    if (until - previous > MIN_EXTENSION) this.onChange(undefined, until)
  }

  restModel(model: string, until: number, now: number): void {
    const previous = possibleEnd(this.modelRestEnds.get(model) ?? 0, until)
    this.forgetModel(model)
    if (this.modelRestEnds.size >= MAX_MODELS) this.makeRoom(now)
    this.modelRestEnds.set(model, Math.max(previous, until))
    this.modelsFailedAt.set(model, performance.now())
    if (until - previous > MIN_EXTENSION) this.onChange(model, until)
  }

  /**
   * Makes a request the trial of a channel that fell silent and whose rest is over. The channel rests for all other
   * requests until the trial is answered, because each of them would wait for the whole timeout.
   *
   * @returns function that ends the trial and states whether the upstream answered, or undefined if the request is no
   * trial.
   */
  beginTrial(now: number): ((hasAnswered: boolean) => void) | undefined {
    if (!this.hasFallenSilent || this.rests(now)) return this.parent?.beginTrial(now)
    const [previous, trialEnd] = [this.channelRestEnd, now + TRIAL_INTERVAL]
    this.channelRestEnd = trialEnd
    return hasAnswered => {
      if (this.channelRestEnd !== trialEnd) return
      this.channelRestEnd = previous
      this.hasFallenSilent = !hasAnswered
    }
  }

  /**
   * Ends the rest of the channel and of a model after the model has answered. An answer to a request that was sent
   * before the last failure does not show that the failure is over.
   *
   * @param sentAt time at which the answered request was sent, in milliseconds of the monotonic clock.
   */
  wake(model: string, sentAt: number): void {
    if (this.channelRestEnd !== 0 && this.channelFailedAt <= sentAt) {
      this.endChannelRest()
      this.onChange(undefined, 0)
    }
    if (this.modelRestEnds.size > 0 && (this.modelsFailedAt.get(model) ?? Number.POSITIVE_INFINITY) <= sentAt) {
      this.forgetModel(model)
      this.onChange(model, 0)
    }
    this.parent?.wake(model, sentAt)
  }

  private endChannelRest(): void {
    this.channelRestEnd = 0
    this.refusalKind = undefined
    this.hasFallenSilent = false
  }

  private forgetModel(model: string): void {
    this.modelRestEnds.delete(model)
    this.modelsFailedAt.delete(model)
  }

  /** Applies a change from another process without calling `onChange`. */
  apply(model: string | undefined, until: number, now: number, why?: RestReason): void {
    const { onChange } = this
    this.onChange = () => {}
    if (until === 0 && model !== undefined) this.forgetModel(model)
    else if (until === 0) this.endChannelRest()
    else if (model === undefined) this.restChannel(until, why)
    else this.restModel(model, until, now)
    this.onChange = onChange
  }

  /** Returns the number of channels (0 or 1) and models that rest at this time. */
  count(now: number): { readonly channels: number; readonly models: number } {
    let models = 0
    for (const until of this.modelRestEnds.values()) if (isOngoing(until, now)) models++
    return { channels: this.rests(now) ? 1 : 0, models }
  }

  /** Makes room for a model: drops models whose rest is over, or else the least recently added model. */
  private makeRoom(now: number): void {
    for (const [model, until] of this.modelRestEnds) if (!isOngoing(until, now)) this.forgetModel(model)
    if (this.modelRestEnds.size < MAX_MODELS) return
    for (const oldest of this.modelRestEnds.keys()) {
      this.forgetModel(oldest)
      return
    }
  }
}

/** Period over which requests are counted, in minutes. */
export const MINUTES = 60
/** Maximum number of error groups stored per channel. */
export const MAX_ERROR_GROUPS = 20
const MINUTE = 60_000

/** An upstream failure as shown to administrators, without credentials. Times are Unix milliseconds. */
export interface ChannelError {
  readonly at: number
  readonly kind: ErrorKind
  readonly reason: FailureReason
  /** HTTP status, if the upstream answered. */
  readonly status?: number
  readonly message: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Last characters of the key, if the channel has several keys. */
  readonly key?: string
  /** Id of the request, or undefined for a test of the channel. */
  readonly request?: string
}

/** Group of equal failures of a channel: the latest failure, the number of failures, and the time of the first. */
export interface ErrorGroup extends ChannelError {
  readonly count: number
  readonly firstAt: number
}

/** Request counts of a channel by minute, as plain JSON for other processes. */
export interface StatsSnapshot {
  /** Minutes since 1970 that had requests, with the numbers of requests and failures. */
  readonly minutes: readonly (readonly [minute: number, requests: number, errors: number])[]
  /** The last errors, grouped, latest first. */
  readonly errors: readonly ErrorGroup[]
  /** Time of the last successful request. */
  readonly succeededAt?: number
  /** Failures since then. */
  readonly streak?: Streak
}

/** Failures of a channel since its last success. Times are Unix milliseconds. */
export interface Streak {
  readonly since: number
  /** Times of the last failures, at most `FAILURES_UNTIL_FAILING`, latest first. */
  readonly last: readonly number[]
}

/** Number of consecutive failures after which a channel counts as failing, even if it has answered in the last hour. */
export const FAILURES_UNTIL_FAILING = 3

/** Errors caused by the request itself, which say nothing about the upstream's state. */
const REQUEST_ERRORS: ReadonlySet<ErrorKind> = new Set([
  ...(['invalid-request', 'context-too-long', 'too-large', 'not-found'] as const),
  ...(['conflict', 'cancelled', 'cannot-express'] as const),
])

/** Counts the requests of one channel in the last hour. Counting allocates no memory. */
export class ChannelStats {
  private readonly minuteBySlot = new Float64Array(MINUTES)
  private readonly requests = new Uint32Array(MINUTES)
  private readonly failures = new Uint32Array(MINUTES)
  private readonly errorGroups: ErrorGroup[] = []
  private succeededAt: number | undefined
  private streak: Streak | undefined
  private readonly parent: ChannelStats | undefined

  /** @param parent the counts of the channel to which a pool's key belongs. */
  constructor(parent?: ChannelStats) {
    this.parent = parent
  }

  succeeded(now = Date.now()): void {
    this.parent?.succeeded(now)
    this.succeededAt = now
    this.streak = undefined
    this.count(now, false)
  }

  failed(error: ChannelError): void {
    this.parent?.failed(error)
    const isFailure = !REQUEST_ERRORS.has(error.kind)
    this.count(error.at, isFailure)
    if (isFailure) this.streak = extendedStreak(this.streak, error.at)
    const index = this.errorGroups.findIndex(one => areEqual(one, error))
    const [before] = index === -1 ? [] : this.errorGroups.splice(index, 1)
    if (this.errorGroups.length === MAX_ERROR_GROUPS) this.errorGroups.pop()
    this.errorGroups.unshift({ ...error, count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? error.at })
  }

  /** Returns the start of the failures if all recent requests of the channel failed. */
  failingSince(now = Date.now()): number | undefined {
    const { succeededAt, streak } = this
    return failingSince({ succeededAt, streak }, now)
  }

  /** True if no request has been counted yet. */
  get isUnused(): boolean {
    return this.succeededAt === undefined && this.streak === undefined
  }

  snapshot(now = Date.now()): StatsSnapshot {
    const first = Math.floor(now / MINUTE) - MINUTES
    const minutes: [number, number, number][] = []
    for (const [slot, minute] of this.minuteBySlot.entries())
      if (minute > first) minutes.push([minute, this.requests[slot]!, this.failures[slot]!])
    const { succeededAt, streak } = this
    const counted = { minutes: minutes.sort(([one], [other]) => one - other), errors: [...this.errorGroups] }
    return { ...counted, ...defined({ succeededAt, streak }) }
  }

  private count(now: number, isFailure: boolean): void {
    const minute = Math.floor(now / MINUTE)
    const slot = minute % MINUTES
    if (this.minuteBySlot[slot] !== minute) {
      this.minuteBySlot[slot] = minute
      this.requests[slot] = 0
      this.failures[slot] = 0
    }
    this.requests[slot]!++
    if (isFailure) this.failures[slot]!++
  }
}

/** Returns true if two failures differ only in time and request. */
const areEqual = (one: ChannelError, other: ChannelError): boolean =>
  one.message === other.message &&
  one.kind === other.kind &&
  one.reason === other.reason &&
  one.status === other.status &&
  one.model === other.model &&
  one.key === other.key

const extendedStreak = (streak: Streak | undefined, at: number): Streak => ({
  since: streak?.since ?? at,
  last: [at, ...(streak?.last ?? [])].slice(0, FAILURES_UNTIL_FAILING),
})

/**
 * Returns the start of a channel's failures if all its recent requests failed, that is, the last
 * `FAILURES_UNTIL_FAILING` requests or all requests of the last hour, or undefined otherwise.
 */
export function failingSince(
  { succeededAt, streak }: { readonly succeededAt?: number | undefined; readonly streak?: Streak | undefined },
  now = Date.now(),
): number | undefined {
  if (streak === undefined || streak.last.length === 0) return undefined
  const isLong = streak.last.length >= FAILURES_UNTIL_FAILING
  const isAlone = succeededAt === undefined || succeededAt < now - MINUTES * MINUTE
  return isLong || isAlone ? streak.since : undefined
}

/** Merges the counts of several processes. */
export function mergedStats(all: readonly StatsSnapshot[]): StatsSnapshot {
  const byMinute = new Map<number, [number, number, number]>()
  for (const [minute, requests, errors] of all.flatMap(({ minutes }) => minutes)) {
    const [, before, failed] = byMinute.get(minute) ?? [minute, 0, 0]
    byMinute.set(minute, [minute, before + requests, failed + errors])
  }
  return {
    minutes: [...byMinute.values()].sort(([one], [other]) => one - other),
    errors: mergedErrors(all.flatMap(one => one.errors)),
    ...mergedStreaks(all),
  }
}

function mergedErrors(all: readonly ErrorGroup[]): readonly ErrorGroup[] {
  const groups: ErrorGroup[] = []
  for (const one of all.toSorted((one, other) => other.at - one.at)) {
    const at = groups.findIndex(group => areEqual(group, one))
    const group = groups[at]
    if (group === undefined) groups.push(one)
    else groups[at] = { ...group, count: group.count + one.count, firstAt: Math.min(group.firstAt, one.firstAt) }
  }
  return groups.slice(0, MAX_ERROR_GROUPS)
}

/** Merges the streaks of several processes. Only failures after the last success in any process count. */
function mergedStreaks(all: readonly StatsSnapshot[]): Pick<StatsSnapshot, 'succeededAt' | 'streak'> {
  const successes = all.flatMap(one => one.succeededAt ?? [])
  const succeededAt = successes.length === 0 ? undefined : Math.max(...successes)
  const isLater = (at: number): boolean => succeededAt === undefined || at > succeededAt
  const last = all
    .flatMap(one => one.streak?.last ?? [])
    .filter(isLater)
    .sort((one, other) => other - one)
  const starts = [...all.flatMap(one => one.streak?.since ?? []), ...last].filter(isLater)
  const streak =
    last.length === 0 ? undefined : { since: Math.min(...starts), last: last.slice(0, FAILURES_UNTIL_FAILING) }
  return defined({ succeededAt, streak })
}

/** Adds up the last minutes, including the current one. */
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
