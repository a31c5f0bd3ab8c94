import { GatewayError } from '../canonical/error.ts'
import type { GroupConfig } from '../config.ts'
import { Bucket } from './bucket.ts'

/** How much each key has used of what its group allows a minute; kept in memory. */
export class Limits {
  private readonly requests = new Map<string, Bucket>()
  private readonly tokens = new Map<string, Bucket>()

  /** Counts one request, unless the key has used up its requests or tokens: then GatewayError `rate-limited`. */
  admit(key: string, group: GroupConfig, now: number): void {
    const requests = bucketOf(this.requests, key, group.rpm, now)
    const tokens = bucketOf(this.tokens, key, group.tpm, now)
    const wait = Math.max(requests?.wait(now) ?? 0, tokens?.wait(now) ?? 0)
    if (wait > 0) throw limited(wait, (requests?.wait(now) ?? 0) > 0 ? 'requests' : 'tokens')
    requests?.take(1, now)
  }

  spend(key: string, group: GroupConfig, tokens: number, now: number): void {
    bucketOf(this.tokens, key, group.tpm, now)?.take(tokens, now)
  }
}

function bucketOf(
  buckets: Map<string, Bucket>,
  key: string,
  perMinute: number | undefined,
  now: number,
): Bucket | undefined {
  if (perMinute === undefined) {
    buckets.delete(key)
    return undefined
  }
  let bucket = buckets.get(key)
  if (bucket === undefined) buckets.set(key, (bucket = new Bucket(perMinute, now)))
  else bucket.resize(perMinute, now)
  return bucket
}

/** The longest wait a caller is told, in seconds. */
const LONGEST = 3600

const limited = (wait: number, what: string): GatewayError =>
  new GatewayError({
    kind: 'rate-limited',
    message: `This key has used up its ${what} for this minute.`,
    code: 'rate_limit_exceeded',
    retryAfterSeconds: Math.min(LONGEST, Math.max(1, Math.ceil(wait / 1000))),
  })
