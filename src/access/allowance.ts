import { GatewayError } from '../canonical/error.ts'
import type { RateLimits } from '../canonical/rate-limit.ts'
import type { KeyUse } from './limits.ts'

/** What a request is expected to cost in tokens; `output` is the most it may, where it says so. */
export interface ExpectedTokens {
  readonly input: number
  readonly output?: number
}

/** What a request turned out to cost in tokens, as far as the upstream counted. */
export interface SpentTokens {
  readonly input?: number
  readonly output?: number
}

/** Tokens of an answer before any answer to the key was seen. */
export const TYPICAL_OUTPUT = 1000
/** For so many requests of a size there is room where their exact size does not matter. */
const PLENTY = 8
/** The part of the average that the latest answer makes up. */
const WEIGHT = 1 / 8
/** No answer is larger: what counts more is a fault of whoever counted. */
const LARGEST_OUTPUT = 1_000_000

/**
 * What one request takes of its key's limits. Its tokens are reserved as it enters, by an estimate, and settled when it
 * ends: of requests that come at once no more are let in than the limit has room for.
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
   * Takes the tokens a request is expected to cost. A request larger than a minute's worth needs all of it.
   *
   * @param expected called only where tokens are limited and scarce.
   * @param most a bound on the input that costs nothing to know; where there is room for many of that size, it will do.
   * @throws GatewayError `rate-limited` where the key has fewer left.
   */
  reserve(expected: () => ExpectedTokens, most = Number.POSITIVE_INFINITY): void {
    const { tokens, typicalOutput } = this.use
    if (tokens === undefined) return
    const now = this.now()
    const isPlenty = tokens.has(PLENTY * (most + typicalOutput), now)
    const { input, output = Number.POSITIVE_INFINITY } = isPlenty ? { input: most, output: typicalOutput } : expected()
    const units = Math.ceil(input + Math.min(output, typicalOutput))
    const wait = tokens.wait(now, units)
    if (wait > 0) throw limited(wait, 'tokens')
    tokens.take(units, now)
    this.reserved = units
  }

  /** Replaces what was reserved by what was spent; where nobody knows that, the reserve stays spent. */
  settle(spent: SpentTokens | undefined): void {
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

/** The longest wait a caller is told, in seconds. */
const LONGEST = 3600

const limited = (wait: number, what: string): GatewayError =>
  new GatewayError({
    kind: 'rate-limited',
    message: `This key has used up its ${what} for this minute.`,
    code: 'rate_limit_exceeded',
    retryAfterSeconds: Math.min(LONGEST, Math.max(1, Math.ceil(wait / 1000))),
  })
