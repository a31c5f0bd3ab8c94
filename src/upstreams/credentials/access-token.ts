import { GatewayError } from '../../canonical/error.ts'

/** A token, and when it may be sent, in Unix seconds. */
export interface Token {
  readonly text: string
  readonly from: number
  readonly until: number
}

/**
 * Gets a new token.
 *
 * @throws GatewayError `upstream-account` with a cause that an operator understands and that holds no secret.
 */
export type TokenSource = () => Promise<Token>

/** Longest time before its end at which a token is renewed, in seconds. */
const RENEW_BEFORE = 300
/** Share of a token's lifetime that is left when it is renewed, for tokens with a short life. */
const RENEW_SHARE = 0.2
/** Time after a failed renewal before the next one, in seconds, while the old token is still valid. */
const RETRY_AFTER = 15

/**
 * The token of an account at an upstream. All requests share one. It is renewed while the old one is still valid, so
 * that requests wait for the first token only; a failed renewal leaves the old token in use until its end.
 */
export class AccessToken {
  private readonly source: TokenSource
  private readonly now: () => number
  private readonly onFailure: (error: GatewayError) => void
  private token: Token | undefined
  private renewAt = 0
  private pending: Promise<void> | undefined

  /**
   * @param onFailure is told of a failed renewal while the old token is still valid.
   * @param now returns Unix milliseconds.
   */
  constructor(source: TokenSource, onFailure: (error: GatewayError) => void = () => {}, now: () => number = Date.now) {
    this.source = source
    this.onFailure = onFailure
    this.now = now
  }

  /** The current token, which may be about to expire; undefined before the first one. */
  get text(): string | undefined {
    return this.token?.text
  }

  /**
   * Resolves when there is a valid token; undefined if there is one already.
   *
   * @throws GatewayError `upstream-account` if there is no valid token and none can be had.
   */
  ready(): Promise<void> | undefined {
    const now = this.now() / 1000
    const { token } = this
    // A clock that was set back may be before the token's start.
    if (token === undefined || now < token.from || now >= token.until) return this.renew()
    if (now >= this.renewAt) void this.renew().catch(this.renewalFailed)
    return undefined
  }

  /**
   * Returns a token that is not due for renewal.
   *
   * @throws GatewayError `upstream-account` if there is none and none can be had.
   */
  async fresh(): Promise<Token> {
    const now = this.now() / 1000
    if (this.token === undefined || now < this.token.from || now >= this.renewAt) await this.renew()
    return this.token!
  }

  /** Forgets a token that an upstream refused, so that the next request gets a new one. */
  refused(text: string | undefined): void {
    if (text !== undefined && text === this.token?.text) this.token = undefined
  }

  private renew(): Promise<void> {
    this.pending ??= this.source()
      .then(token => this.take(token))
      .finally(() => {
        this.pending = undefined
      })
    return this.pending
  }

  private take(token: Token): void {
    this.token = token
    this.renewAt = token.until - Math.min(RENEW_BEFORE, (token.until - this.now() / 1000) * RENEW_SHARE)
  }

  private readonly renewalFailed = (thrown: unknown): void => {
    this.renewAt = this.now() / 1000 + RETRY_AFTER
    this.onFailure(thrown instanceof GatewayError ? thrown : accountError('The token cannot be renewed.', thrown))
  }
}

/** The error of an account whose credential cannot be made. The message never holds a secret. */
export const accountError = (message: string, cause?: unknown): GatewayError =>
  new GatewayError({ kind: 'upstream-account', message }, cause === undefined ? {} : { cause: cause as Error })
