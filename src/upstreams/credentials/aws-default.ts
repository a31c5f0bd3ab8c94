import { defined } from '../../canonical/node.ts'
import type { ProxyConfig } from '../../config/types.ts'
import type { TokenSource } from './access-token.ts'
import type { AwsKeys } from './aws.ts'
import { awsClientThrough } from './library-proxy.ts'
import { libraryError, loadDependencyOf, loadOptionalPackage } from './optional-package.ts'

/*
 * Keys from AWS's files and services (docs.aws.amazon.com, "AWS SDKs and Tools standardized credential providers", read
 * on 2026-12-01).
 */

/** Options of AWS's library for a source of keys. */
interface ProviderOptions {
  readonly profile?: string
  /** True to read the files of keys again. Otherwise, the library reads each file once per process. */
  readonly ignoreCache: boolean
  /**
   * Settings of the requests that the library sends, for example to assume a role. A region of the profile wins. The
   * roles of web identities in profiles take the HTTP client only from here.
   */
  readonly parentClientConfig: { readonly region: string; readonly requestHandler?: object }
  /** HTTP client of these requests. The library's own by default. */
  readonly clientConfig?: { readonly requestHandler: object }
}

/** Returns a source of keys of AWS's library. */
type Provider = (options: ProviderOptions) => () => Promise<AwsKeys & { readonly expiration?: Date }>

const PACKAGE = '@aws-sdk/credential-provider-node'

/** Returns the provider of the whole chain. */
const chain = (): Provider => loadOptionalPackage<{ readonly defaultProvider: Provider }>(PACKAGE).defaultProvider

/** Returns the provider of a single profile. */
const profileOnly = (): Provider =>
  loadDependencyOf<{ readonly fromIni: Provider }>(PACKAGE, '@aws-sdk/credential-provider-ini').fromIni

/** Lifetime of keys without an expiry, in seconds. They are then read again, in case they were changed. */
const STATIC_LIFETIME = 900

/** The account whose keys are obtained. */
interface Account {
  readonly profile?: string
  /**
   * Region in which roles are assumed. The library's default, `us-east-1`, has no roles of China or GovCloud, and
   * networks may reach only the endpoint of their own region.
   */
  readonly region: string
}

/**
 * Returns a source of keys from AWS's default credential chain, as the text of a token (`AwsKeys` in JSON). Needs the
 * package `@aws-sdk/credential-provider-node`.
 */
export function awsDefaultKeys(account: Account, proxy?: ProxyConfig): TokenSource {
  const client = proxy && { requestHandler: awsClientThrough(proxy) }
  const options: ProviderOptions = {
    ...defined({ profile: account.profile, clientConfig: client }),
    ignoreCache: true,
    parentClientConfig: { region: account.region, ...client },
  }
  return async () => {
    const from = Math.floor(Date.now() / 1000)
    try {
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await keysOf(options)
      const until = expiration === undefined ? from + STATIC_LIFETIME : Math.floor(expiration.getTime() / 1000)
      return { text: JSON.stringify({ accessKeyId, secretAccessKey, sessionToken }), from: 0, until }
    } catch (thrown) {
      if ((thrown as Error).name === 'GatewayError') throw thrown
      throw libraryError("AWS's default credentials returned no keys", thrown as Error)
    }
  }
}

/**
 * Obtains keys. A named profile is the only source: after a profile that fails, the library's chain would go on to the
 * account of the machine, which may be another one. A profile of `AWS_PROFILE` without keys may only state a region, and
 * leaves the choice to the chain, as in AWS's own programs.
 */
async function keysOf(options: ProviderOptions): ReturnType<ReturnType<Provider>> {
  const { profile } = options
  if (profile === undefined) return chain()(options)().catch(keysOfContainer)
  try {
    return await profileOnly()(options)()
  } catch (thrown) {
    const hasNoKeys = (thrown as Error).message.includes(`using profile: [${profile}]`)
    if (!hasNoKeys || profile !== process.env['AWS_PROFILE']) throw thrown
    return chain()(options)().catch(keysOfContainer)
  }
}

/** Variables with the address of the server that gives keys to a container. */
const CONTAINER_VARIABLES = ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', 'AWS_CONTAINER_CREDENTIALS_FULL_URI']

/**
 * Asks the server of a container once more after the whole chain failed, because the chain drops what the server
 * answered (`remoteProvider` of `@aws-sdk/credential-provider-node`, read on 2026-12-01).
 */
async function keysOfContainer(thrown: unknown): ReturnType<ReturnType<Provider>> {
  if (!CONTAINER_VARIABLES.some(name => process.env[name])) throw thrown
  type HttpProvider = (options: { readonly maxRetries: number }) => ReturnType<Provider>
  const { fromHttp } = loadDependencyOf<{ readonly fromHttp: HttpProvider }>(
    PACKAGE,
    '@aws-sdk/credential-provider-http',
  )
  try {
    return await fromHttp({ maxRetries: 0 })()
  } catch (thrown) {
    const { message } = thrown as Error
    const statusCode = /status: (\d{3})$/.exec(message)?.[1]
    const code = /\bE[A-Z_]{4,}\b/.exec(message)?.[0]
    throw Object.assign(new Error(message), { statusCode, code })
  }
}
