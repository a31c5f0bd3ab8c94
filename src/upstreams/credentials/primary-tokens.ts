import type { GatewayError } from '../../canonical/error.ts'
import { defined } from '../../canonical/node.ts'
import { AccessToken } from './access-token.ts'
import { type TokenAnswer, type TokenRequestMessage, tokenId, tokenSourceOf } from './index.ts'

/**
 * Maximum number of accounts whose tokens the primary stores. Excess accounts are dropped, because a reload may have
 * removed their channels.
 */
const MAX_ACCOUNTS = 1000

/** Tokens that a primary process obtains for its workers, once per account. */
export class PrimaryTokens {
  private readonly tokens = new Map<string, AccessToken>()
  private readonly onFailure: (error: GatewayError) => void

  /** @param onFailure called if a renewal fails while the old token is still valid. */
  constructor(onFailure: (error: GatewayError) => void = () => {}) {
    this.onFailure = onFailure
  }

  /**
   * Answers a worker's request. As long as the primary's token is valid and not due for renewal, further requests get
   * the same token, unless an upstream refused it. A token that cannot be renewed serves until it expires, also a worker
   * that has just started. A failure is an answer as well, so that no worker asks the failing source again by itself.
   */
  async answer({ auth, proxy, refused }: TokenRequestMessage): Promise<TokenAnswer> {
    const id = tokenId(auth, proxy)
    if (this.tokens.size >= MAX_ACCOUNTS && !this.tokens.has(id)) this.tokens.clear()
    const token = this.tokens.getOrInsertComputed(id, () => new AccessToken(tokenSourceOf(auth, proxy), this.onFailure))
    token.refused(refused)
    return token.fresh().catch(({ error: { message, retryAfterSeconds } }: GatewayError) => ({
      ...{ failure: message, ...defined({ retryAfterSeconds }) },
    }))
  }
}
