import { type GoogleServiceAccount, PUBLIC_UNIVERSE } from '../../config/auth.ts'
import type { ProxyConfig } from '../../config/types.ts'
import { fetchThrough } from '../channel/fetch.ts'
import { accountError, type Token, type TokenSource } from './access-token.ts'
import { withoutMetadata } from './library-proxy.ts'
import { libraryError, loadOptionalPackage } from './optional-package.ts'
import { type Claims, signedWithKey } from './signed-jwt.ts'
import { requestToken } from './token-request.ts'

/*
 * Tokens for Google Cloud (cloud.google.com/docs/authentication, "Service accounts" and "Application default
 * credentials", read on 2026-11-28).
 */

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** Lifetime of a signed assertion, in seconds. Google allows at most an hour. */
const ASSERTION_LIFETIME = 3600
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * Returns a source of tokens for a service account, whose private key signs the token requests. Outside of the public
 * universe, no server exchanges these: the signed claims are the token (google-auth-library 10.9 and
 * googleapis/google-auth-library-python, read on 2026-12-01).
 */
export const serviceAccountTokens =
  (account: GoogleServiceAccount, proxy: ProxyConfig | undefined): TokenSource =>
  async () => {
    const iat = Math.floor(Date.now() / 1000)
    const exp = iat + ASSERTION_LIFETIME
    const claims = { iss: account.email, scope: SCOPE, iat, exp }
    if (account.universe !== undefined)
      return { text: await signedBy(account, { ...claims, sub: account.email }), from: 0, until: exp }
    const assertion = await signedBy(account, { ...claims, aud: account.tokenUrl })
    const form = { grant_type: JWT_BEARER, assertion }
    return requestToken({ url: account.tokenUrl, form, proxy, server: "Google's token server" })
  }

const signedBy = ({ privateKey, keyId }: GoogleServiceAccount, claims: Claims): Promise<string> =>
  signedWithKey(claims, privateKey, keyId).catch(() => {
    // The cause is omitted, because it may contain the key.
    throw accountError("The service account's private key cannot sign token requests.")
  })

/** Returns a source of tokens for the machine's own service account, from the metadata server. */
export const metadataTokens =
  (host: string): TokenSource =>
  () =>
    requestToken({
      url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
      headers: { 'metadata-flavor': 'Google' },
      server: "Google's metadata server",
    })

/** A credential of `google-auth-library`. */
interface GoogleClient extends GoogleClientParts {
  getAccessToken(): Promise<{ readonly token?: string | null }>
  /** Returns headers as an object, or since version 10 as `Headers`. */
  getRequestHeaders(): Promise<Headers | { readonly [name: string]: string }>
  readonly universeDomain?: string
  readonly credentials?: { readonly expiry_date?: number | null }
}

/** The parts of a credential that send requests. */
interface GoogleClientParts {
  /** HTTP client: gaxios itself, or before version 10 an object with its instance. */
  readonly transporter?: GaxiosLike & { readonly instance?: GaxiosLike }
  /** Exchanges the token of a federated workload. */
  readonly stsCredential?: GoogleClientParts
  /** The credential that impersonates a service account. */
  readonly sourceClient?: GoogleClientParts
}

interface GaxiosLike {
  readonly defaults?: { fetchImplementation?: unknown }
}

/** Makes all parts of a credential connect through a proxy. The library passes its options on to some of them only. */
function connectThrough(fetch: unknown, { transporter, stsCredential, sourceClient }: GoogleClientParts): void {
  const defaults = (transporter?.instance ?? transporter)?.defaults
  if (defaults !== undefined) defaults.fetchImplementation = fetch
  for (const part of [stsCredential, sourceClient]) if (part !== undefined) connectThrough(fetch, part)
}

/** The API of `google-auth-library` that this file uses. */
interface GoogleAuthLibrary {
  readonly GoogleAuth: new (options: {
    readonly scopes: string
    readonly projectId: string
  }) => { getClient(): Promise<GoogleClient> }
  readonly gcpMetadata?: { resetIsAvailableCache(): void }
}

/** Returns a token. Outside of the public universe, the library signs those of service accounts for headers only. */
async function tokenOf(client: GoogleClient): Promise<string | null | undefined> {
  const { universeDomain = PUBLIC_UNIVERSE } = client
  if (universeDomain === PUBLIC_UNIVERSE) return (await client.getAccessToken()).token
  return new Headers(await client.getRequestHeaders()).get('authorization')?.replace(/^Bearer /, '')
}

/**
 * Project of the library's clients, which no token depends on. Without one, the library looks it up, which needs a
 * permission that a federated workload may lack.
 */
const UNUSED_PROJECT = 'unused'

/**
 * Returns a source of tokens from Google's application default credentials. Needs the package `google-auth-library`.
 */
export const googleDefaultTokens = (proxy?: ProxyConfig): TokenSource => {
  const fetch = proxy === undefined ? undefined : fetchThrough(withoutMetadata(proxy))
  let client: Promise<GoogleClient> | undefined
  return async (refused): Promise<Token> => {
    const { GoogleAuth, gcpMetadata } = loadOptionalPackage<GoogleAuthLibrary>('google-auth-library')
    // The library returns a token until it expires, even if an upstream refused it.
    if (refused !== undefined) client = undefined
    client ??= new GoogleAuth({ scopes: SCOPE, projectId: UNUSED_PROJECT }).getClient()
    const from = Math.floor(Date.now() / 1000)
    try {
      const authClient = await client
      if (fetch !== undefined) connectThrough(fetch, authClient)
      const token = await tokenOf(authClient)
      if (typeof token !== 'string') throw new Error('the library returned no token')
      return {
        text: token,
        from: 0,
        until: Math.floor((authClient.credentials?.expiry_date ?? (from + 300) * 1000) / 1000),
      }
    } catch (thrown) {
      client = undefined
      // The library remembers for ever that there was no metadata server. That of a new pod answers after some seconds.
      gcpMetadata?.resetIsAvailableCache()
      throw libraryError("Google's application default credentials failed", thrown as Error)
    }
  }
}
