import { createHash } from 'node:crypto'
import type { GatewayError } from '../../canonical/error.ts'
import type { ChannelAuth } from '../../config/auth.ts'
import type { ChannelConfig, ProxyConfig } from '../../config/types.ts'
import { AccessToken, type Token, type TokenSource } from './access-token.ts'
import { type AwsKeys, AwsSigner, awsDefaultKeys, type SignableRequest } from './aws.ts'
import { azureDefaultTokens, clientSecretTokens, managedIdentityTokens, workloadTokens } from './azure.ts'
import { googleDefaultTokens, metadataTokens, serviceAccountTokens } from './google.ts'
import { keyPairOf, keyPairTokens } from './key-pair.ts'

export type { SignableRequest } from './aws.ts'

/** The credential of a channel that is made at run time: a token, or signatures of requests. */
export interface Credential {
  /**
   * Resolves when requests can be sent; undefined if they can be now.
   *
   * @throws GatewayError `upstream-account` if no credential can be had.
   */
  ready(): Promise<void> | undefined
  /** The token for the headers; undefined before the first one, and for requests that are signed. */
  readonly token: string | undefined
  /** Returns the headers of a request with its signature; undefined if requests are not signed. */
  readonly sign: ((request: SignableRequest) => Promise<SignableRequest['headers']>) | undefined
  /** Notes that the upstream refused the current token. */
  refused(): void
}

/** Shares tokens with the other processes of a machine, and reports failed renewals. */
export interface TokenSharing {
  /**
   * Returns the token of an account, which one process gets for all.
   *
   * @param own gets the token in this process.
   */
  share(auth: ChannelAuth, proxy: ProxyConfig | undefined, own: TokenSource): Promise<Token>
  /** Reports a renewal that failed while the old token is still valid. */
  renewalFailed(channel: string, error: GatewayError): void
}

/** The topic of questions for tokens between processes. */
export const TOKEN_TOPIC = 'upstream-token'

/** A worker's question for the token of an account. It stays within the machine. */
export interface TokenRequestMessage {
  readonly auth: ChannelAuth
  readonly proxy?: ProxyConfig
}

/** The credential of a channel; undefined if its key is sent as it is, or it has none. */
export function credentialOf(config: ChannelConfig, sharing?: TokenSharing): Credential | undefined {
  const { auth, key, formats, name, proxy } = config
  const renewalFailed = (error: GatewayError): void => sharing?.renewalFailed(name, error)
  if (auth === undefined) {
    const pair = formats.some(format => format.auth === 'jwt') ? keyPairOf(key) : undefined
    return pair === undefined ? undefined : new TokenCredential(new AccessToken(keyPairTokens(pair), renewalFailed))
  }
  if (auth.type === 'aws-keys') return new SigningCredential(new AwsSigner(auth, auth))
  const own = tokenSourceOf(auth, proxy)
  const source = sharing === undefined ? own : () => sharing.share(auth, proxy, own)
  const token = new AccessToken(source, renewalFailed)
  return auth.type === 'aws-default'
    ? new SigningCredential(new AwsSigner(auth, NO_KEYS), token)
    : new TokenCredential(token)
}

/** The source of the tokens of an auth. */
export function tokenSourceOf(auth: ChannelAuth, proxy: ProxyConfig | undefined): TokenSource {
  switch (auth.type) {
    case 'aws-default':
      return awsDefaultKeys(auth.profile)
    case 'google-service-account':
      return serviceAccountTokens(auth.account, proxy)
    case 'google-metadata':
      return metadataTokens(auth.host)
    case 'google-default':
      return googleDefaultTokens()
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

/** Equal accounts have equal tokens, whatever their channels are called. */
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

  ready(): Promise<void> | undefined {
    return this.access.ready()
  }

  refused(): void {
    this.access.refused(this.access.text)
  }
}

const NO_KEYS: AwsKeys = { accessKeyId: '', secretAccessKey: '' }

/** Signs requests with fixed keys, or with those that a chain renews. */
class SigningCredential implements Credential {
  readonly token = undefined
  private readonly signer: AwsSigner
  private readonly keys: AccessToken | undefined
  /** The text of the keys in use. */
  private current: string | undefined

  /** @param keys the keys as the text of a token; undefined if the signer's are fixed. */
  constructor(signer: AwsSigner, keys?: AccessToken) {
    this.signer = signer
    this.keys = keys
  }

  ready(): Promise<void> | undefined {
    return this.keys?.ready()
  }

  readonly sign = (request: SignableRequest): Promise<SignableRequest['headers']> => {
    const text = this.keys?.text
    if (text !== undefined && text !== this.current) {
      this.signer.renew(JSON.parse(text) as AwsKeys)
      this.current = text
    }
    return this.signer.sign(request)
  }

  refused(): void {
    this.keys?.refused(this.keys.text)
  }
}
