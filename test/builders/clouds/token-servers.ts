import { createPublicKey, createVerify, type KeyObject } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Script, Seen } from '../upstream.ts'

/* Token servers of Google and Microsoft. They check every request as the real ones do, and refuse it in their words. */

export const CLOUD_TOKEN = 'cloud-token-1234'
const HOUR = 3600

function answer(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const issue = (response: ServerResponse): void =>
  answer(response, 200, { access_token: CLOUD_TOKEN, expires_in: HOUR, token_type: 'Bearer' })

const refuse = (response: ServerResponse, status: number, error: string, description: string): void =>
  answer(response, status, { error, error_description: description })

/** Google's token server, which knows one service account. Its clock may be ahead, in seconds. */
export const googleTokens = (email: string, key: KeyObject, ahead = 0): Script => {
  const publicKey = createPublicKey(key)
  return (response, { text }) => {
    const now = Math.floor(Date.now() / 1000) + ahead
    response.setHeader('date', new Date(now * 1000).toUTCString())
    const [head, body, signature] = (new URLSearchParams(text).get('assertion') ?? '').split('.')
    const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString() || '{}')
    if (claims.iss !== email) return refuse(response, 400, 'invalid_grant', 'Invalid grant: account not found')
    const verifier = createVerify('RSA-SHA256').update(`${head}.${body}`)
    if (!verifier.verify(publicKey, Buffer.from(signature ?? '', 'base64url')))
      return refuse(response, 400, 'invalid_grant', 'Invalid JWT Signature.')
    if (claims.iat > now + 300 || claims.exp < now)
      return refuse(
        response,
        400,
        'invalid_grant',
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.',
      )
    return issue(response)
  }
}

/** Google's metadata server, which answers requests with its header alone. */
export const googleMetadata: Script = (response, { headers, url }) => {
  response.setHeader('metadata-flavor', 'Google')
  if (headers['metadata-flavor'] !== 'Google') return answer(response, 403, {})
  return url.includes('/token') ? issue(response) : answer(response, 200, {})
}

/** An application that is registered at Microsoft Entra. */
export interface Application {
  readonly tenant: string
  readonly clientId: string
  readonly secret: string
  readonly scope: string
}

/** Microsoft Entra, with one application, and the identity endpoint of a machine. */
export const entra =
  ({ tenant, clientId, secret, scope }: Application): Script =>
  (response, seen) => {
    if (seen.method === 'GET') return identity(response, seen)
    const form = new URLSearchParams(seen.text)
    if (seen.url !== `/${tenant}/oauth2/v2.0/token`)
      return refuse(response, 400, 'invalid_request', `AADSTS90002: Tenant '${seen.url.split('/')[1]}' not found.`)
    if (form.get('client_id') !== clientId)
      return refuse(
        response,
        400,
        'unauthorized_client',
        `AADSTS700016: Application with identifier '${form.get('client_id')}' was not found in the directory.`,
      )
    if (form.get('client_secret') !== secret)
      return refuse(response, 401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.')
    if (form.get('scope') !== scope)
      return refuse(response, 400, 'invalid_scope', `AADSTS70011: The provided value for scope is not valid.`)
    return issue(response)
  }

/** The services for which a machine's identity gets tokens. */
const RESOURCES = new Set(['https://ai.azure.com', 'https://cognitiveservices.azure.com'])

function identity(response: ServerResponse, { headers, url }: Seen): void {
  const resource = new URL(url, 'http://metadata').searchParams.get('resource') ?? ''
  if (headers['metadata'] !== 'true')
    return refuse(response, 400, 'invalid_request', 'Required metadata header not specified')
  return RESOURCES.has(resource) ? issue(response) : refuse(response, 400, 'invalid_resource', 'AADSTS500011')
}

/** Answers by a script the requests that have the issued token, and refuses the others as Google does. */
export const withCloudToken =
  (script: Script): Script =>
  (response, seen) =>
    seen.headers.authorization === `Bearer ${CLOUD_TOKEN}`
      ? script(response, seen)
      : answer(response, 401, {
          error: {
            code: 401,
            message: 'Request had invalid authentication credentials. Expected OAuth 2 access token.',
            status: 'UNAUTHENTICATED',
          },
        })
