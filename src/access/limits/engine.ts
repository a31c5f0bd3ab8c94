/** Limits of one key; money in nanodollars. Those that are undefined limit nothing. */
export interface KeyLimits {
  /** Requests and tokens a minute. */
  readonly rpm?: number | undefined
  readonly tpm?: number | undefined
  readonly concurrent?: number | undefined
  /** Spend a day and a month, UTC. */
  readonly day?: number | undefined
  readonly month?: number | undefined
}

/** Nanodollars a key had spent in the day and the month (UTC) of a time, Unix milliseconds. */
export interface InitialSpend {
  readonly day: number
  readonly month: number
  readonly at: number
}

/**
 * One step of a request at its key's limits, plain JSON: it is sent to other processes. All of a step happens, or nothing
 * of it.
 */
export interface LimitStep {
  /** The key's id. */
  readonly key: string
  readonly limits: KeyLimits
  /** Requests to take. */
  readonly requests: number
  /** Tokens to take; negative ones are given back. */
  readonly tokens: number
  /** Nanodollars to spend; negative ones are given back. */
  readonly cost: number
  /** When the cost that this one corrects was reserved, Unix milliseconds: it counts in periods that still run. */
  readonly reservedAt?: number | undefined
  /** Takes a place among the key's concurrent requests, under this name: `OWNER.NUMBER`. */
  readonly enter?: string | undefined
  /** Gives the place of that name back. */
  readonly leave?: string | undefined
  /** Whether the step is refused where a limit has no room; one that settles takes what it takes. */
  readonly enforced: boolean
  /** What counts where the engine does not know yet what the key has spent. */
  readonly initial?: InitialSpend | undefined
}

export type LimitName = 'requests' | 'tokens' | 'concurrent' | 'day' | 'month'

export interface Refusal {
  readonly limit: LimitName
  /** Milliseconds until there may be room. */
  readonly wait: number
}

export interface LimitState {
  readonly refused?: Refusal | undefined
  /** What the key has spent must be known first: nothing happened, the step is to be repeated with `initial`. */
  readonly unknown?: true
  /** What the minute's allowances hold after the step; negative where there is a debt. */
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
}

/** Counts what keys use: in this process, in the primary of several, or in Redis for many instances. */
export interface LimitEngine {
  /**
   * Never rejects: an engine that cannot be reached is replaced by counting here.
   *
   * @param now Unix time in milliseconds, for an engine of this process, which would read the same clock.
   */
  step(step: LimitStep, now?: number): LimitState | Promise<LimitState>
  /** Gives back the places of an owner that is no more. */
  leaveAll(owner: string): void
  close(): void
}

/** Milliseconds after which there may be room among concurrent requests: nobody knows how long they take. */
const TURN = 1000

const NAMES: readonly LimitName[] = ['requests', 'tokens', 'concurrent', 'day', 'month']

/** The refusal by the limit that takes longest to have room; undefined where all have. Milliseconds until each has. */
export function refusalBy(
  requests: number,
  tokens: number,
  isFull: boolean,
  day: number,
  month: number,
): Refusal | undefined {
  const concurrent = isFull ? TURN : 0
  if (requests + tokens + concurrent + day + month === 0) return undefined
  const wait = Math.max(requests, tokens, concurrent, day, month)
  return { limit: NAMES[[requests, tokens, concurrent, day, month].indexOf(wait)]!, wait }
}
