import type { Quota } from '../../canonical/rate-limit.ts'

/** Limits of one key; money in nanodollars. */
export interface KeyLimits {
  /** Requests and tokens a minute. */
  readonly rpm?: number
  readonly tpm?: number
  readonly concurrent?: number
  /** Spend a day and a month, UTC. */
  readonly day?: number
  readonly month?: number
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
  /** Takes a place among the key's concurrent requests, under this name. */
  readonly enter?: string
  /** Gives the place of that name back. */
  readonly leave?: string
  /** Whether the step is refused where a limit has no room; one that settles takes what it takes. */
  readonly enforced: boolean
}

export type LimitName = 'requests' | 'tokens' | 'concurrent' | 'day' | 'month'

export interface LimitState {
  /** Why the step was refused, and in how many milliseconds there may be room. */
  readonly refused?: { readonly limit: LimitName; readonly wait: number }
  /** What is left after the step. */
  readonly requests?: Quota
  readonly tokens?: Quota
}

/** Counts what keys use: in this process, in the primary of several, or in Redis for many instances. */
export interface LimitEngine {
  /** Never rejects: an engine that cannot be reached is replaced by counting here. */
  step(step: LimitStep): LimitState | Promise<LimitState>
  close(): void | Promise<void>
}
