import type { LimitSettings } from '../../config/index.ts'
import { Allowance, type KeyUse, TYPICAL_OUTPUT } from './allowance.ts'
import { Bucket } from './bucket.ts'

/** The use of each key within its limits per minute; kept in memory. */
export class Limits {
  private readonly keys = new Map<string, KeyUse>()

  /** The share of a request in the key's limits. */
  of(key: string, limits: LimitSettings, now: () => number): Allowance {
    let use = this.keys.get(key)
    if (use === undefined) {
      use = { requests: undefined, tokens: undefined, typicalOutput: TYPICAL_OUTPUT }
      this.keys.set(key, use)
    }
    use.requests = resized(use.requests, limits.rpm, now)
    use.tokens = resized(use.tokens, limits.tpm, now)
    return new Allowance(use, now)
  }
}

function resized(bucket: Bucket | undefined, perMinute: number | undefined, now: () => number): Bucket | undefined {
  if (perMinute === undefined) return undefined
  if (bucket === undefined) return new Bucket(perMinute, now())
  bucket.resize(perMinute, now())
  return bucket
}
