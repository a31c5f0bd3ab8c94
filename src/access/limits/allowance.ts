import { GatewayError } from '../../canonical/error.ts'
import type { RateLimits } from '../../canonical/rate-limit.ts'
import type { Bucket } from './bucket.ts'

/** A request's expected tokens; `output` is the most the answer may have, where the request limits it. */
export interface ExpectedTokens {
  readonly input: number
  readonly output?: number
}

/** A request's actual tokens, as far as the upstream counted them. */
export interface SpentTokens {
  readonly input?: number
  readonly output?: number
}

/** What a key has used of its group's limits; buckets are absent where it has no such limit. */
export interface KeyUse {
  requests: Bucket | undefined
  tokens: Bucket | undefined
  /** The average number of tokens of the key's answers, the latest weighted most. */
  typicalOutput: number
}

/** Expected tokens of an answer before the key has had one. */
export const TYPICAL_OUTPUT = 1000
/** Where there is room for so many requests of a size, their exact size does not matter. */
const PLENTY = 8
/** The weight of the latest answer in the average. */
const WEIGHT = 1 / 8
/** No answer is larger: a higher count is wrong. */
const LARGEST_OUTPUT = 1_000_000

/**
 * The share of one request in its key's limits. Its tokens are reserved when it enters, by an estimate, and settled
 * when it ends: of simultaneous requests no more are admitted than the limit has room for.
 */
export class Allowance {
  private readonly use: KeyUse
  private readonly now: () => number
  private reserved = 0

  constructor(use: KeyUse, now: () => number) {
    this.use = use
    this.now = now
  }

  /**
   * Counts one request.
   *
   * @throws GatewayError `rate-limited` with `retryAfterSeconds` where the key has no request or no token left.
   */
  admit(): void {
    const { requests, tokens } = this.use
    const now = this.now()
    const requestsWait = requests?.wait(now) ?? 0
    const wait = Math.max(requestsWait, tokens?.wait(now) ?? 0)
    if (wait > 0) throw limited(wait, requestsWait > 0 ? 'requests' : 'tokens')
    requests?.take(1, now)
  }

  /**
   * Takes the tokens a request is expected to use. A request larger than a minute's allowance needs all of it.
   *
   * @param expected called only where tokens are limited and scarce.
   * @param most an upper bound on the input that is free to compute; used where there is room for many of that size.
   * @throws GatewayError `rate-limited` where the key has fewer left.
   */
  reserve(expected: () => ExpectedTokens, most = Number.POSITIVE_INFINITY): void {
    const { tokens, typicalOutput } = this.use
    if (tokens === undefined) return
    const now = this.now()
    const hasPlenty = tokens.has(PLENTY * (most + typicalOutput), now)
    const { input, output = Number.POSITIVE_INFINITY } = hasPlenty ? { input: most, output: typicalOutput } : expected()
    const units = Math.ceil(input + Math.min(output, typicalOutput))
    const wait = tokens.wait(now, units)
    if (wait > 0) throw limited(wait, 'tokens')
    tokens.take(units, now)
    this.reserved = units
  }

  /**
   * Replaces the reserved tokens by the actual ones; where these are unknown, the reserved ones stay spent.
   *
   * @param cost nanodollars; undefined where it is unknown.
   */
  settle(spent: SpentTokens | undefined, _cost?: number): void {
    const { use } = this
    if (spent === undefined) return
    const { input = 0, output = 0 } = spent
    use.tokens?.take(input + output - this.reserved, this.now())
    this.reserved = 0
    const seen = Math.min(Math.max(output, 0), LARGEST_OUTPUT)
    if (seen > 0) use.typicalOutput += (seen - use.typicalOutput) * WEIGHT
  }

  /** What is left of the key's limits. */
  get left(): RateLimits {
    const { requests, tokens } = this.use
    const now = this.now()
    return { requests: requests?.quota(now), tokens: tokens?.quota(now) }
  }
}

/** The longest wait reported to a caller, in seconds. */
const LONGEST = 3600

const limited = (wait: number, what: string): GatewayError =>
  new GatewayError({
    kind: 'rate-limited',
    message: `This key has used up its ${what} for this minute.`,
    code: 'rate_limit_exceeded',
    retryAfterSeconds: Math.min(LONGEST, Math.max(1, Math.ceil(wait / 1000))),
  })
