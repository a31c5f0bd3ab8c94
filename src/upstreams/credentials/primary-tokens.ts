import { AccessToken, type Token } from './access-token.ts'
import { type TokenRequestMessage, tokenId, tokenSourceOf } from './index.ts'

/**
 * Maximum number of accounts whose tokens the primary stores. Excess accounts are dropped, because a reload may have
 * removed their channels.
 */
const MAX_ACCOUNTS = 1000

/** Tokens that a primary process obtains for its workers, once per account. */
export class PrimaryTokens {
  private readonly tokens = new Map<string, AccessToken>()

  /**
   * Answers a worker's request. As long as the primary's token is valid and not due for renewal, further requests get
   * the same token, unless an upstream refused it.
   *
   * @throws GatewayError `upstream-account`.
   */
  async answer({ auth, proxy, refused }: TokenRequestMessage): Promise<Token> {
    const id = tokenId(auth, proxy)
    if (this.tokens.size >= MAX_ACCOUNTS && !this.tokens.has(id)) this.tokens.clear()
    const token = this.tokens.getOrInsertComputed(id, () => new AccessToken(tokenSourceOf(auth, proxy)))
    token.refused(refused)
    return token.fresh()
  }
}
