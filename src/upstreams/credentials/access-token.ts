import { GatewayError } from '../../canonical/error.ts'

/** A token with its period of validity, in Unix seconds. */
export interface Token {
  readonly text: string
  readonly from: number
  readonly until: number
}

/**
 * Requests a new token.
 *
 * @param refused token that an upstream refused, and that must not be returned from a cache.
 * @throws GatewayError `upstream-account` with a message that explains the cause to operators and contains no secret.
 */
export type TokenSource = (refused?: string) => Promise<Token>

/** Maximum time before expiry at which a token is renewed, in seconds. */
const RENEW_BEFORE = 300
/** Remaining share of the lifetime at which a short-lived token is renewed. */
const RENEW_SHARE = 0.2
/**
 * Time for which a failure answers further requests that have no token, in milliseconds. Entra locks out clients that
 * repeat a failing request in a loop (AADSTS50196), and STS throttles the whole account.
 */
const FAILURE_LIFETIME = 1000
/** Delay after a failed renewal, in seconds, while the old token is still valid. */
const RETRY_AFTER = 15
/**
 * Minimum time between two refusals that discard a token, in seconds. An account without a role is refused whatever its
 * token, and must not cost a token request per request.
 */
const DISCARD_INTERVAL = 30
/** Maximum time to obtain a token, in milliseconds. Afterwards, the next request tries again. */
const TIMEOUT = 60_000
/** Maximum lifetime of a token, in seconds. */
const MAX_LIFETIME = 86_400
/** Lifetime of a token whose end is no finite number, in seconds. */
const UNKNOWN_LIFETIME = 900

/**
 * Access token of an upstream account, shared by all requests. It is renewed while it is still valid, so requests wait
 * only for the first token. If a renewal fails, the old token remains in use until it expires.
 */
export class AccessToken {
  private readonly source: TokenSource
  private readonly now: () => number
  private readonly onFailure: (error: GatewayError) => void
  private token: Token | undefined
  private renewAt = 0
  /** Token that an upstream refused, until another one arrives. */
  private refusedText: string | undefined
  /** Time at which a refused token was last discarded, in Unix seconds. */
  private discardedAt: number | undefined
  private pending: Promise<void> | undefined
  private lastFailure: { readonly error: GatewayError; readonly at: number } | undefined

  /**
   * @param onFailure called if a renewal fails while the old token is still valid.
   * @param now returns Unix milliseconds.
   */
  constructor(source: TokenSource, onFailure: (error: GatewayError) => void = () => {}, now: () => number = Date.now) {
    this.source = source
    this.onFailure = onFailure
    this.now = now
  }

  /** The current token, which may be about to expire, or undefined until the first token arrives. */
  get text(): string | undefined {
    return this.token?.text
  }

  /**
   * Resolves when there is a valid token. Returns undefined if there already is one.
   *
   * @throws GatewayError `upstream-account` if no valid token can be obtained.
   */
  ready(): Promise<void> | undefined {
    const now = this.now() / 1000
    if (!this.isValid(now)) return this.renew()
    if (now >= this.renewAt) void this.renew().catch(this.renewalFailed)
    return undefined
  }

  /**
   * Returns a valid token, which is not due for renewal unless the renewal just failed.
   *
   * @throws GatewayError `upstream-account` if no valid token can be obtained.
   */
  async fresh(): Promise<Token> {
    const now = this.now() / 1000
    if (this.isValid(now) && now >= this.renewAt) await this.renew().catch(this.renewalFailed)
    if (!this.isValid(this.now() / 1000)) await this.renew()
    return this.token!
  }

  /**
   * Discards a token that an upstream refused, so that the next request gets a new one. Keeps a token that replaces one
   * refused a moment ago.
   */
  refused(text: string | undefined): void {
    if (text === undefined || text !== this.token?.text) return
    const now = this.now() / 1000
    // A clock that was set back must not keep a refused token.
    if (this.discardedAt !== undefined && Math.abs(now - this.discardedAt) < DISCARD_INTERVAL) return
    this.discardedAt = now
    this.token = undefined
    this.refusedText = text
  }

  /** Returns true if there is a token that is valid at a time. It may start later if the clock was set back. */
  private isValid(now: number): boolean {
    const { token } = this
    return token !== undefined && now >= token.from && now < token.until
  }

  private renew(): Promise<void> {
    const { lastFailure } = this
    if (lastFailure !== undefined && Math.abs(this.now() - lastFailure.at) < FAILURE_LIFETIME)
      return Promise.reject(lastFailure.error)
    this.pending ??= inTime(this.source(this.refusedText))
      .then(
        token => this.setToken(token),
        thrown => {
          const error =
            thrown instanceof GatewayError ? thrown : accountError('The token could not be obtained.', thrown)
          this.lastFailure = { error, at: this.now() }
          throw error
        },
      )
      .finally(() => {
        this.pending = undefined
      })
    return this.pending
  }

  private setToken(token: Token): void {
    const now = this.now() / 1000
    const until = Number.isFinite(token.until) ? Math.min(token.until, now + MAX_LIFETIME) : now + UNKNOWN_LIFETIME
    this.token = { ...token, until }
    this.refusedText = undefined
    this.lastFailure = undefined
    this.renewAt = until - Math.min(RENEW_BEFORE, (until - now) * RENEW_SHARE)
  }

  private readonly renewalFailed = (thrown: unknown): void => {
    this.renewAt = this.now() / 1000 + RETRY_AFTER
    this.onFailure(thrown as GatewayError)
  }
}

/** Returns the error for an account without an obtainable credential. The message must not contain secrets. */
export const accountError = (message: string, cause?: unknown): GatewayError =>
  new GatewayError({ kind: 'upstream-account', message }, cause === undefined ? {} : { cause: cause as Error })

/**
 * Matches statuses of a token server that may answer a moment later. 410 is Azure's metadata server in an update
 * (learn.microsoft.com, "How to use managed identities on an Azure VM to acquire an access token", read on 2026-12-01).
 */
export const TRANSIENT_STATUS = /^(?:408|410|429|5\d\d)$/

/** Time after which a token may be obtained if its server states none, in seconds. */
const TRANSIENT_FAILURE = 5

/**
 * Like `accountError`, for a failure that passes by itself, such as a token server that restarts. The stated delay keeps
 * it from resting the channel as long as a missing permission, and from telling clients not to retry.
 */
export const transientAccountError = (
  message: string,
  cause?: unknown,
  retryAfterSeconds = TRANSIENT_FAILURE,
): GatewayError => new GatewayError({ ...accountError(message).error, retryAfterSeconds }, { cause })

/** Rejects if a source does not return a token in time, because some sources wait for ever. */
function inTime(token: Promise<Token>): Promise<Token> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(transientAccountError('The token did not arrive in time.')), TIMEOUT)
  return Promise.race([token, promise]).finally(() => clearTimeout(timer))
}
