import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { OidcConfig } from '../../config/types.ts'
import { fetchThrough } from '../../upstreams/channel/fetch.ts'
import { type Claims, claimIn } from './claims.ts'

/** Timeout of one request to the provider, in seconds. */
const TIMEOUT_SECONDS = 10
/** Time for which the provider's discovery document is cached, in milliseconds. */
const DISCOVERY_LIFETIME_MS = 3_600_000

/** A sign-in in progress, with the values that its completion is checked against. */
export interface PendingSignIn {
  readonly issuer: string
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Time at which the sign-in started, in Unix milliseconds. */
  readonly startedAt: number
}

/** An OpenID Connect provider (Core 1.0), used with the authorization code flow and PKCE. */
export class Provider {
  readonly config: OidcConfig
  private discovery: { readonly at: number; readonly by: Promise<Configuration> } | undefined

  constructor(config: OidcConfig) {
    this.config = config
  }

  /**
   * Starts a sign-in. Returns the URL at which the user signs in, and the state to store until the sign-in completes.
   * Rejects if the provider is unreachable.
   */
  async start(redirectUri: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }> {
    const provider = await this.provider()
    const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()]
    const url = buildAuthorizationUrl(provider, {
      ...{ redirect_uri: redirectUri, scope: this.config.scopes.join(' '), state, nonce, response_type: 'code' },
      ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    })
    const pending = { issuer: this.config.issuer, redirectUri, state, nonce, verifier, startedAt: Date.now() }
    return { url: url.href, pending }
  }

  /**
   * Completes a sign-in and returns the user's claims. Rejects if state, nonce, issuer, audience, signature or code
   * does not match the started sign-in.
   *
   * @param query the query of the redirect.
   */
  async finish(query: URLSearchParams, pending: PendingSignIn): Promise<Claims> {
    const provider = await this.provider()
    const tokens = await authorizationCodeGrant(provider, new URL(`${pending.redirectUri}?${query}`), {
      ...{ pkceCodeVerifier: pending.verifier, expectedState: pending.state, expectedNonce: pending.nonce },
      idTokenExpected: true,
    })
    const claims = tokens.claims() as Claims
    const hasRoleClaim = claimIn(claims, this.config.claim) !== undefined
    if (hasRoleClaim || provider.serverMetadata().userinfo_endpoint === undefined) return claims
    return { ...(await fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims }
  }

  private provider(): Promise<Configuration> {
    const now = performance.now()
    if (this.discovery === undefined || now - this.discovery.at > DISCOVERY_LIFETIME_MS) {
      const by = this.discovered()
      const discovery = { at: now, by }
      this.discovery = discovery
      by.catch(() => {
        if (this.discovery === discovery) this.discovery = undefined
      })
    }
    return this.discovery.by
  }

  private discovered(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, proxy } = this.config
    const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])]
    return discovery(new URL(issuer), clientId, clientSecret, undefined, {
      ...{ execute, timeout: TIMEOUT_SECONDS },
      ...(proxy && { [customFetch]: fetchThrough(proxy) }),
    })
  }
}
