import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { textOf } from './http.ts'

/** Deviations of the provider from a correct one. */
export interface Tampering {
  /** Claims that replace those of the ID token. */
  readonly claims?: { readonly [claim: string]: unknown }
  /** Whether the token is signed with a key that the provider does not publish. */
  readonly foreignKey?: boolean
  /** Claims that only the userinfo endpoint returns, and not the token. */
  readonly userinfo?: { readonly [claim: string]: unknown }
}

interface Grant {
  readonly query: URLSearchParams
  readonly claims: { readonly [claim: string]: unknown }
  readonly tampering: Tampering
}

export const CLIENT = { id: 'interlingua', secret: 'client-secret-of-the-tests' }

/** An OpenID Connect provider on the loopback. Its users agree to everything. */
export class OidcProvider {
  readonly issuer: string
  /** Number of token requests that were granted. */
  granted = 0
  /** User who signs in with a browser. Nobody if absent. */
  user: Grant['claims'] | undefined
  private readonly server: Server
  private readonly keys: { readonly own: CryptoKey; readonly foreign: CryptoKey; readonly published: object }
  private readonly codes = new Map<string, Grant>()
  private readonly told = new Map<string, object>()

  private constructor(server: Server, keys: OidcProvider['keys'], host: string) {
    this.server = server
    this.keys = keys
    this.issuer = `http://${host}:${(server.address() as AddressInfo).port}`
    server.on('request', (message: IncomingMessage, response) => {
      if (this.user !== undefined && message.url!.startsWith('/authorize?')) {
        response.writeHead(302, { location: this.wayBack(message.url!, this.user) }).end()
        return
      }
      this.answer(message).then(
        ([status, body]) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
        () => response.destroy(),
      )
    })
  }

  /** @param host the provider's host. For browsers, `localhost` is another site than 127.0.0.1. */
  static async open(host = '127.0.0.1'): Promise<OidcProvider> {
    const [own, foreign] = [await generateKeyPair('RS256', { extractable: true }), await generateKeyPair('RS256')]
    const published = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, host, resolve))
    return new OidcProvider(server, { own: own.privateKey, foreign: foreign.privateKey, published }, host)
  }

  /**
   * Signs the user in at the address to which the gateway sent the browser. Returns the query with which the browser
   * returns.
   */
  authorise(location: string, claims: Grant['claims'], tampering: Tampering = {}): URLSearchParams {
    const query = new URL(location).searchParams
    const code = randomUUID()
    this.codes.set(code, { query, claims, tampering })
    return new URLSearchParams({ code, state: query.get('state')!, iss: this.issuer })
  }

  private wayBack(path: string, user: Grant['claims']): string {
    const location = `${this.issuer}${path}`
    return `${new URL(location).searchParams.get('redirect_uri')}?${this.authorise(location, user)}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise(resolve => this.server.close(resolve))
  }

  private async answer(message: IncomingMessage): Promise<[status: number, body: object]> {
    const path = message.url!.split('?')[0]
    if (path === '/.well-known/openid-configuration') return [200, this.metadata()]
    if (path === '/jwks') return [200, this.keys.published]
    if (path === '/token') return this.token(message, new URLSearchParams(await textOf(message)))
    const told = path === '/userinfo' ? this.told.get(String(message.headers.authorization)) : undefined
    return told === undefined ? [404, {}] : [200, told]
  }

  private metadata(): object {
    const { issuer } = this
    return {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/userinfo` },
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
      ...{ id_token_signing_alg_values_supported: ['RS256'], code_challenge_methods_supported: ['S256'] },
      authorization_response_iss_parameter_supported: true,
    }
  }

  private async token(message: IncomingMessage, form: URLSearchParams): Promise<[number, object]> {
    const grant = this.codes.get(form.get('code') ?? '')
    this.codes.delete(form.get('code') ?? '')
    const isClient = this.isClient(message, form)
    if (grant === undefined || !isClient) return [400, { error: 'invalid_grant' }]
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isSame = form.get('redirect_uri') === grant.query.get('redirect_uri')
    if (challenge !== grant.query.get('code_challenge') || !isSame) return [400, { error: 'invalid_grant' }]
    const { claims, foreignKey = false, userinfo } = grant.tampering
    const now = Math.floor(Date.now() / 1000)
    const usual = { iss: this.issuer, aud: CLIENT.id, iat: now, exp: now + 60, nonce: grant.query.get('nonce') }
    const token = await new SignJWT({ ...usual, ...grant.claims, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(foreignKey ? this.keys.foreign : this.keys.own)
    const access = randomUUID()
    this.told.set(`Bearer ${access}`, { sub: grant.claims['sub'], ...userinfo })
    this.granted++
    return [200, { access_token: access, token_type: 'Bearer', id_token: token, expires_in: 60 }]
  }

  private isClient({ headers }: IncomingMessage, form: URLSearchParams): boolean {
    if (headers.authorization === undefined)
      return form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret
    const basic = Buffer.from(headers.authorization.split(' ')[1]!, 'base64').toString()
    return basic === `${CLIENT.id}:${CLIENT.secret}`
  }
}
