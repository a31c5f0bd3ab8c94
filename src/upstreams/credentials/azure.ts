import { withoutTrailingSlashes } from '../../canonical/text.ts'
import type { AzureAuth } from '../../config/auth.ts'
import { readCredentialFile } from '../../config/credential-file.ts'
import type { ProxyConfig } from '../../config/types.ts'
import { accountError, type TokenSource } from './access-token.ts'
import { libraryError, loadOptionalPackage } from './optional-package.ts'
import { requestToken } from './token-request.ts'

/*
 * Tokens from Microsoft Entra (learn.microsoft.com/entra/identity-platform, "Client credentials flow";
 * learn.microsoft.com/entra/identity/managed-identities-azure-resources, "Use managed identities on a virtual machine";
 * learn.microsoft.com/azure/app-service, "REST endpoint reference", read on 2026-11-28).
 */

const ENTRA = 'Microsoft Entra'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Returns a source of tokens for an application with a client secret. */
export const clientSecretTokens =
  ({ tenant, clientId, clientSecret, authority, scope }: AzureAuth<'azure-client'>, proxy?: ProxyConfig): TokenSource =>
  () =>
    requestToken({
      url: tokenUrl(authority, tenant),
      form: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope },
      ...{ proxy, server: ENTRA },
    })

/** Returns a source of tokens for a workload, whose platform writes an assertion to a file and renews it there. */
export const workloadTokens =
  ({ tenant, clientId, tokenFile, authority, scope }: AzureAuth<'azure-workload'>, proxy?: ProxyConfig): TokenSource =>
  async () => {
    const assertion = readAssertion(tokenFile)
    return requestToken({
      url: tokenUrl(authority, tenant),
      form: {
        ...{ grant_type: 'client_credentials', client_id: clientId, scope },
        ...{ client_assertion_type: ASSERTION_TYPE, client_assertion: assertion },
      },
      ...{ proxy, server: ENTRA },
    })
  }

/** Matches an assertion. A file that is still being written may be empty. */
const ASSERTION = /^[\x21-\x7e]+$/

function readAssertion(file: string): string {
  try {
    const assertion = readCredentialFile(file).trim()
    if (!ASSERTION.test(assertion)) throw new Error('contains no assertion')
    return assertion
  } catch (thrown) {
    throw accountError(`The token file of the workload identity ${(thrown as Error).message}.`)
  }
}

const tokenUrl = (authority: string, tenant: string): string =>
  `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`

/**
 * Returns a source of tokens for a managed identity, from App Service's endpoint if there is one, else from the
 * metadata server.
 */
export const managedIdentityTokens =
  ({ clientId, endpoint, scope }: AzureAuth<'azure-managed'>): TokenSource =>
  () => {
    const resource = scope.replace(/\/\.default$/, '')
    const query = { resource, ...(clientId === undefined ? {} : { client_id: clientId }) }
    const request =
      endpoint.secret === undefined
        ? {
            base: `${withoutTrailingSlashes(endpoint.url)}${METADATA_PATH}`,
            version: '2018-02-01',
            headers: { metadata: 'true' },
          }
        : { base: endpoint.url, version: '2019-08-01', headers: { 'x-identity-header': endpoint.secret } }
    return requestToken({
      url: `${request.base}?${new URLSearchParams({ 'api-version': request.version, ...query })}`,
      headers: request.headers,
      server: "Azure's identity endpoint",
    })
  }

const METADATA_PATH = '/metadata/identity/oauth2/token'

/** The API of `@azure/identity` that this file uses. */
interface AzureIdentity {
  readonly DefaultAzureCredential: new () => {
    getToken(scope: string): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>
  }
}

/** Returns a source of tokens from Azure's default credential chain. Needs the package `@azure/identity`. */
export const azureDefaultTokens = ({ scope }: AzureAuth<'azure-default'>): TokenSource => {
  let credential: InstanceType<AzureIdentity['DefaultAzureCredential']> | undefined
  return async refused => {
    const { DefaultAzureCredential } = loadOptionalPackage<AzureIdentity>('@azure/identity')
    // The library returns a token until it expires, even if an upstream refused it.
    if (refused !== undefined) credential = undefined
    credential ??= new DefaultAzureCredential()
    const token = await credential.getToken(scope).catch((thrown: Error) => {
      throw libraryError("Azure's default credentials failed", thrown)
    })
    if (token === null) throw accountError("Azure's default credentials returned no token.")
    return { text: token.token, from: 0, until: Math.floor(token.expiresOnTimestamp / 1000) }
  }
}
