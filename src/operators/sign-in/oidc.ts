import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { OidcConfig } from '../../config/types.ts'
import { type Claims, claimIn } from './claims.ts'

/** Seconds a provider may take for one answer. */
const TIMEOUT = 10
/** Milliseconds after which a provider's description of itself is fetched again. */
const CURRENT = 3_600_000

/** A sign-in that has begun: what its end is checked against. */
export interface Pending {
  readonly issuer: string
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Unix time in milliseconds. */
  readonly begunAt: number
}

/** A provider of OpenID Connect (Core 1.0), spoken to by the authorization code flow with PKCE. */
export class Provider {
  readonly config: OidcConfig
  private found: { readonly at: number; readonly by: Promise<Configuration> } | undefined

  constructor(config: OidcConfig) {
    this.config = config
  }

  /** The address at which a user signs in, and what is to be kept until then. Rejects where the provider cannot be asked. */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly pending: Pending }> {
    const provider = await this.provider()
    const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()]
    const url = buildAuthorizationUrl(provider, {
      ...{ redirect_uri: redirectUri, scope: this.config.scopes.join(' '), state, nonce, response_type: 'code' },
      ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    })
    const pending = { issuer: this.config.issuer, redirectUri, state, nonce, verifier, begunAt: Date.now() }
    return { url: url.href, pending }
  }

  /**
   * What the provider states of the user who comes back. Rejects where state, nonce, issuer, audience, signature or code is
   * not that of the sign-in that was begun.
   *
   * @param query that of the redirect.
   */
  async finish(query: URLSearchParams, pending: Pending): Promise<Claims> {
    const provider = await this.provider()
    const tokens = await authorizationCodeGrant(provider, new URL(`${pending.redirectUri}?${query}`), {
      ...{ pkceCodeVerifier: pending.verifier, expectedState: pending.state, expectedNonce: pending.nonce },
      idTokenExpected: true,
    })
    const claims = tokens.claims() as Claims
    const isThere = claimIn(claims, this.config.claim) !== undefined
    if (isThere || provider.serverMetadata().userinfo_endpoint === undefined) return claims
    return { ...(await fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims }
  }

  private provider(): Promise<Configuration> {
    const now = performance.now()
    if (this.found === undefined || now - this.found.at > CURRENT) {
      const by = this.discovered()
      const found = { at: now, by }
      this.found = found
      by.catch(() => {
        if (this.found === found) this.found = undefined
      })
    }
    return this.found.by
  }

  private discovered(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.config
    const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])]
    return discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: TIMEOUT })
  }
}
