import { createHash } from 'node:crypto'
import type { GatewayError } from '../../canonical/error.ts'
import type { ChannelAuth } from '../../config/auth.ts'
import type { ChannelConfig, ProxyConfig } from '../../config/types.ts'
import { AccessToken, type Token, type TokenSource } from './access-token.ts'
import { type AwsKeys, AwsSigner, type SignableRequest } from './aws.ts'
import { awsDefaultKeys } from './aws-default.ts'
import { azureDefaultTokens, clientSecretTokens, managedIdentityTokens, workloadTokens } from './azure.ts'
import { googleDefaultTokens, metadataTokens, serviceAccountTokens } from './google.ts'
import { keyPairOf, keyPairTokens } from './key-pair.ts'

export type { SignableRequest } from './aws.ts'

/** A channel's credential that is created at run time: a token, or a signature for each request. */
export interface Credential {
  /**
   * Resolves when requests can be sent. Returns undefined if they can be sent now.
   *
   * @throws GatewayError `upstream-account` if no credential can be obtained.
   */
  ready(): Promise<void> | undefined
  /** The token for the headers. Undefined before the first token arrives, or if requests are signed. */
  readonly token: string | undefined
  /** Token or keys with which the next request is sent. */
  readonly current: string | undefined
  /**
   * Function that returns the headers of a request including its signature. Returns undefined if requests are not
   * signed.
   */
  readonly sign: ((request: SignableRequest) => Promise<SignableRequest['headers']>) | undefined
  /**
   * Records that the upstream refused a token or keys.
   *
   * @param sent `current` when the request was sent. Meanwhile, another request may have got new ones.
   */
  refused(sent: string | undefined): void
}

/** Shares tokens with the machine's other processes and reports failed renewals. */
export interface TokenSharing {
  /**
   * Returns the token of an account. One process obtains it for all.
   *
   * @param directSource obtains the token in this process.
   * @param refused token that an upstream refused.
   */
  share(
    auth: ChannelAuth,
    proxy: ProxyConfig | undefined,
    directSource: TokenSource,
    refused: string | undefined,
  ): Promise<Token>
  /** Reports a failed renewal while the old token is still valid. */
  renewalFailed(channel: string, error: GatewayError): void
}

/** Topic of messages between processes that request tokens. */
export const TOKEN_TOPIC = 'upstream-token'

/** A worker's request for an account's token. It never leaves the machine. */
export interface TokenRequestMessage {
  readonly auth: ChannelAuth
  readonly proxy?: ProxyConfig
  /** Token that an upstream refused. */
  readonly refused?: string
}

/** The primary's answer to a worker: the token, or the reason why it cannot be obtained, which contains no secret. */
export type TokenAnswer = Token | { readonly failure: string; readonly retryAfterSeconds?: number }

/** Returns the credential of a channel, or undefined if its key is sent unchanged or it has no key. */
export function credentialOf(config: ChannelConfig, sharing?: TokenSharing): Credential | undefined {
  const { auth, key, formats, name, proxy } = config
  const renewalFailed = (error: GatewayError): void => sharing?.renewalFailed(name, error)
  if (auth === undefined) {
    const pair = formats.some(format => format.auth === 'jwt') ? keyPairOf(key) : undefined
    return pair === undefined ? undefined : new TokenCredential(new AccessToken(keyPairTokens(pair), renewalFailed))
  }
  if (auth.type === 'aws-keys') return new SigningCredential(new AwsSigner(auth, auth))
  const directSource = tokenSourceOf(auth, proxy)
  const source: TokenSource =
    sharing === undefined ? directSource : refused => sharing.share(auth, proxy, directSource, refused)
  const token = new AccessToken(source, renewalFailed)
  return auth.type === 'aws-default'
    ? new SigningCredential(new AwsSigner(auth, NO_KEYS), token)
    : new TokenCredential(token)
}

/** Returns the token source for an auth. */
export function tokenSourceOf(auth: ChannelAuth, proxy: ProxyConfig | undefined): TokenSource {
  switch (auth.type) {
    case 'aws-default':
      return awsDefaultKeys(auth, proxy)
    case 'google-service-account':
      return serviceAccountTokens(auth.account, proxy)
    case 'google-metadata':
      return metadataTokens(auth.host)
    case 'google-default':
      return googleDefaultTokens(proxy)
    case 'azure-client':
      return clientSecretTokens(auth, proxy)
    case 'azure-workload':
      return workloadTokens(auth, proxy)
    case 'azure-managed':
      return managedIdentityTokens(auth)
    case 'azure-default':
      return azureDefaultTokens(auth)
    case 'aws-keys':
      throw new Error('Requests with keys are signed without a token.')
  }
}

/** Returns an id for the token of an account. Channels with equal accounts share a token. */
export const tokenId = (auth: ChannelAuth, proxy: ProxyConfig | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([auth, proxy]))
    .digest('hex')

class TokenCredential implements Credential {
  readonly sign = undefined
  private readonly access: AccessToken

  constructor(access: AccessToken) {
    this.access = access
  }

  get token(): string | undefined {
    return this.access.text
  }

  get current(): string | undefined {
    return this.access.text
  }

  ready(): Promise<void> | undefined {
    return this.access.ready()
  }

  refused(sent: string | undefined): void {
    this.access.refused(sent)
  }
}

const NO_KEYS: AwsKeys = { accessKeyId: '', secretAccessKey: '' }

/** Signs requests with fixed keys, or with keys that a credential chain renews. */
class SigningCredential implements Credential {
  readonly token = undefined
  private readonly signer: AwsSigner
  private readonly keys: AccessToken | undefined
  /** Text of the current keys. */
  private currentText: string | undefined

  /** @param keys the keys as the text of a token, or undefined if the signer's keys are fixed. */
  constructor(signer: AwsSigner, keys?: AccessToken) {
    this.signer = signer
    this.keys = keys
  }

  get current(): string | undefined {
    return this.keys?.text
  }

  ready(): Promise<void> | undefined {
    return this.keys?.ready()
  }

  readonly sign = (request: SignableRequest): Promise<SignableRequest['headers']> => {
    const text = this.keys?.text
    if (text !== undefined && text !== this.currentText) {
      this.signer.renew(JSON.parse(text) as AwsKeys)
      this.currentText = text
    }
    return this.signer.sign(request)
  }

  refused(sent: string | undefined): void {
    this.keys?.refused(sent)
  }
}
