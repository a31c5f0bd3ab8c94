/** What is left of a quota that is refilled steadily. */
export interface Quota {
  /** A whole minute's worth. */
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the quota is full again, if nothing more is used. */
  readonly reset: number
}

/** How much a key may still use; a quota is absent where its group has no such limit. */
export interface RateLimits {
  readonly requests: Quota | undefined
  readonly tokens: Quota | undefined
}

/** Adds the headers by which a format's clients read their limits to `head`; `now` is Unix time in milliseconds. */
export type AddRateLimits = (head: { [name: string]: string }, limits: RateLimits, now: number) => void
