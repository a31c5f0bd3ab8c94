import { AccessToken, type Token } from './access-token.ts'
import { type TokenRequestMessage, tokenId, tokenSourceOf } from './index.ts'

/** Accounts whose tokens the primary holds; more are forgotten, because a reload may have removed their channels. */
const MOST = 1000

/** The tokens that a primary process gets for its workers, once for each account. */
export class PrimaryTokens {
  private readonly tokens = new Map<string, AccessToken>()

  /**
   * Answers a worker's question. A worker that asks again while the primary's token is valid gets the same token, unless
   * it is due for renewal.
   *
   * @throws GatewayError `upstream-account`.
   */
  async answer({ auth, proxy }: TokenRequestMessage): Promise<Token> {
    const id = tokenId(auth, proxy)
    if (this.tokens.size >= MOST) this.tokens.clear()
    return this.tokens.getOrInsertComputed(id, () => new AccessToken(tokenSourceOf(auth, proxy))).fresh()
  }
}
