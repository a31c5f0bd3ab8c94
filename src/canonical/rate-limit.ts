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
  readonly requests?: Quota
  readonly tokens?: Quota
}

/** Headers by which a format's clients read their limits; `now` is Unix time in milliseconds. */
export type RateLimitHeaders = (limits: RateLimits, now: number) => { readonly [name: string]: string }
