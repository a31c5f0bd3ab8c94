/** State of a quota that is refilled continuously. */
export interface Quota {
  /** Maximum requests or tokens per minute. */
  readonly limit: number
  readonly remaining: number
  /** Time until the quota is full if nothing more is used, in milliseconds. */
  readonly reset: number
}

/** Quotas of a key. A quota is undefined if the key's group does not have that limit. */
export interface RateLimits {
  readonly requests: Quota | undefined
  readonly tokens: Quota | undefined
}

/**
 * Adds a format's rate limit headers to `head`.
 *
 * @param now Unix time in milliseconds.
 */
export type AddRateLimits = (head: { [name: string]: string }, limits: RateLimits, now: number) => void
