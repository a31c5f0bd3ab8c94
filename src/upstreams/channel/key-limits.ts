import { Bucket } from '../../accounts/limits/bucket.ts'
import type { PooledKey } from '../../config/types.ts'

/**
 * Per-minute limits of one key of a pool, as set by the operator and counted by this process. One request may exceed
 * the token limit, because its tokens are known only at the end. The key is not used again until the excess is made up
 * for.
 */
export class KeyLimits {
  private readonly rpm: number | undefined
  private readonly tpm: number | undefined
  private readonly requests: Bucket | undefined
  private readonly tokens: Bucket | undefined

  constructor({ rpm, tpm }: PooledKey, now = Date.now()) {
    this.rpm = rpm
    this.tpm = tpm
    this.requests = rpm === undefined ? undefined : new Bucket(rpm, now)
    this.tokens = tpm === undefined ? undefined : new Bucket(tpm, now)
  }

  /** Returns true if these are the limits of a key. */
  areOf({ rpm, tpm }: PooledKey): boolean {
    return rpm === this.rpm && tpm === this.tpm
  }

  /** Returns true if the key must wait before its next request. */
  isSpent(now = Date.now()): boolean {
    return (this.requests?.wait(now) ?? 0) > 0 || (this.tokens?.wait(now) ?? 0) > 0
  }

  sent(now = Date.now()): void {
    this.requests?.take(1, now)
  }

  used(tokens: number, now = Date.now()): void {
    this.tokens?.take(tokens, now)
  }
}

/**
 * Returns the limits of a pool's key, or undefined if it has none.
 *
 * @param before limits of the key before a config change. They go on counting unless they were changed.
 */
export function keyLimitsOf(pooled: PooledKey | undefined, before?: KeyLimits): KeyLimits | undefined {
  if (pooled === undefined || (pooled.rpm === undefined && pooled.tpm === undefined)) return undefined
  return before?.areOf(pooled) === true ? before : new KeyLimits(pooled)
}
