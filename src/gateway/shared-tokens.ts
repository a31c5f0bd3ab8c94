import type { GatewayError } from '../canonical/error.ts'
import { defined, type Json } from '../canonical/node.ts'
import type { ChannelAuth } from '../config/auth.ts'
import type { ProxyConfig } from '../config/types.ts'
import type { Log } from '../log.ts'
import type { Cluster } from '../store/cluster/cluster.ts'
import {
  accountError,
  type Token,
  type TokenSource,
  transientAccountError,
} from '../upstreams/credentials/access-token.ts'
import {
  TOKEN_TOPIC,
  type TokenAnswer,
  type TokenRequestMessage,
  type TokenSharing,
} from '../upstreams/credentials/index.ts'

/** Gets cloud tokens from the primary process, which requests each token once for all workers. */
export class SharedTokens implements TokenSharing {
  private readonly log: Log
  private readonly cluster: Cluster

  constructor(log: Log, cluster: Cluster) {
    this.log = log
    this.cluster = cluster
  }

  /**
   * Returns a token. Requests it from the cloud directly if there is no primary or the primary does not answer.
   *
   * @throws GatewayError `upstream-account` if the primary could not obtain it.
   */
  async share(
    auth: ChannelAuth,
    proxy: ProxyConfig | undefined,
    own: TokenSource,
    refused: string | undefined,
  ): Promise<Token> {
    if (!this.cluster.isWorker) return own(refused)
    const message: TokenRequestMessage = { auth, ...defined({ proxy, refused }) }
    const said = await this.cluster.ask(TOKEN_TOPIC, message as unknown as Json).catch(() => undefined)
    if (said === undefined) return own(refused)
    const answer = said as unknown as TokenAnswer
    if ('failure' in answer) {
      const { failure, retryAfterSeconds } = answer
      throw retryAfterSeconds === undefined
        ? accountError(failure)
        : transientAccountError(failure, undefined, retryAfterSeconds)
    }
    return answer
  }

  renewalFailed(channel: string, { message }: GatewayError): void {
    this.log.warn({ channel, said: message }, 'a token could not be renewed; the old one stays in use until it expires')
  }
}
