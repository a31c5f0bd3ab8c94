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
 * @throws GatewayError `upstream-account` with a message that explains the cause to operators and contains no secret.
 */
export type TokenSource = () => Promise<Token>

/** Maximum time before expiry at which a token is renewed, in seconds. */
const RENEW_BEFORE = 300
/** Remaining share of the lifetime at which a short-lived token is renewed. */
const RENEW_SHARE = 0.2
/** Delay after a failed renewal, in seconds, while the old token is still valid. */
const RETRY_AFTER = 15

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
  private pending: Promise<void> | undefined

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
    const { token } = this
    // If the clock was set back, the time may be before the token's start.
    if (token === undefined || now < token.from || now >= token.until) return this.renew()
    if (now >= this.renewAt) void this.renew().catch(this.renewalFailed)
    return undefined
  }

  /**
   * Returns a token that is not due for renewal.
   *
   * @throws GatewayError `upstream-account` if no such token can be obtained.
   */
  async fresh(): Promise<Token> {
    const now = this.now() / 1000
    if (this.token === undefined || now < this.token.from || now >= this.renewAt) await this.renew()
    return this.token!
  }

  /** Discards a token that an upstream refused, so that the next request gets a new one. */
  refused(text: string | undefined): void {
    if (text !== undefined && text === this.token?.text) this.token = undefined
  }

  private renew(): Promise<void> {
    this.pending ??= this.source()
      .then(token => this.setToken(token))
      .finally(() => {
        this.pending = undefined
      })
    return this.pending
  }

  private setToken(token: Token): void {
    this.token = token
    this.renewAt = token.until - Math.min(RENEW_BEFORE, (token.until - this.now() / 1000) * RENEW_SHARE)
  }

  private readonly renewalFailed = (thrown: unknown): void => {
    this.renewAt = this.now() / 1000 + RETRY_AFTER
    this.onFailure(thrown instanceof GatewayError ? thrown : accountError('The token could not be renewed.', thrown))
  }
}

/** Returns the error for an account without an obtainable credential. The message must not contain secrets. */
export const accountError = (message: string, cause?: unknown): GatewayError =>
  new GatewayError({ kind: 'upstream-account', message }, cause === undefined ? {} : { cause: cause as Error })
