import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import type { ChannelAuth } from '../../../src/config/auth.ts'
import type { TokenSource } from '../../../src/upstreams/credentials/access-token.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import { deadAddress, type Script } from '../../builders/upstream.ts'

const { openUpstream } = opener()
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const dir = mkdtempSync(join(tmpdir(), 'credentials-'))
afterAll(() => rmSync(dir, { recursive: true }))

const SCOPE = 'https://ai.azure.com/.default'
const CLIENT_SECRET = 'the-client-secret-of-the-tests'
const ANSWER = { access_token: 'ya29.token', expires_in: 3599, token_type: 'Bearer' }

const answering =
  (body: object | string, status = 200): Script =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const formOf = (text: string): { readonly [name: string]: string } => Object.fromEntries(new URLSearchParams(text))

const failure = async (source: TokenSource): Promise<GatewayError['error']> =>
  source().then(
    () => expect.fail('a token'),
    (thrown: GatewayError) => thrown.error,
  )

const clientAuth = (authority: string): ChannelAuth => ({
  ...{
    type: 'azure-client',
    tenant: 'contoso',
    clientId: 'app-1',
    clientSecret: CLIENT_SECRET,
    authority,
    scope: SCOPE,
  },
})

describe('tokens of Google', () => {
  const accountAt = (url: string): ChannelAuth => ({
    type: 'google-service-account',
    account: { email: 'gateway@p.iam.gserviceaccount.com', privateKey: PEM, keyId: 'key-1', tokenUrl: `${url}/token` },
  })

  test('come for an assertion that the service account signed', async () => {
    const server = await openUpstream(answering(ANSWER))
    const before = Math.floor(Date.now() / 1000)
    const token = await tokenSourceOf(accountAt(server.address), undefined)()
    expect(token.text).toBe('ya29.token')
    expect(token.until - before).toBeGreaterThanOrEqual(3598)
    expect(token.until - before).toBeLessThanOrEqual(3605)
    const [{ url, method, text, headers }] = server.seen as [(typeof server.seen)[0]]
    expect([method, url, headers['content-type']]).toEqual(['POST', '/token', 'application/x-www-form-urlencoded'])
    const { grant_type, assertion } = formOf(text)
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(assertion!, publicKey, { audience: `${server.address}/token` })
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    expect(payload).toMatchObject({
      iss: 'gateway@p.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    })
    expect(payload.exp! - payload.iat!).toBe(3600)
  })

  test('of another universe are the signed claims themselves, because no server exchanges them there', async () => {
    const server = await openUpstream(answering({ error: 'unsupported' }, 404))
    const auth = accountAt(server.address)
    if (auth.type !== 'google-service-account') throw new Error()
    const account = { ...auth.account, universe: 'apis.example.com' }
    const { text, until } = await tokenSourceOf({ ...auth, account }, undefined)()
    const { payload } = await jwtVerify(text, publicKey)
    const email = 'gateway@p.iam.gserviceaccount.com'
    expect(payload).toMatchObject({ iss: email, sub: email, scope: 'https://www.googleapis.com/auth/cloud-platform' })
    expect(payload.aud).toBeUndefined()
    expect(payload.exp).toBe(until)
    expect(server.seen).toEqual([])
  })

  test('of the machine come from the metadata server, which must be asked with its header', async () => {
    const server = await openUpstream((response, seen) =>
      answering(ANSWER, seen.headers['metadata-flavor'] === 'Google' ? 200 : 403)(response, seen),
    )
    const host = new URL(server.address).host
    expect((await tokenSourceOf({ type: 'google-metadata', host }, undefined)()).text).toBe('ya29.token')
    expect(server.seen[0]!.url).toBe('/computeMetadata/v1/instance/service-accounts/default/token')
  })

  test('by default need a package, and say so if it is missing', async () => {
    const error = await failure(tokenSourceOf({ type: 'azure-default', scope: SCOPE }, undefined))
    expect(error).toMatchObject({ kind: 'upstream-account' })
    expect(error.message).toBe('The package @azure/identity is not installed; run "npm install @azure/identity".')
  })
})

describe('tokens of Azure', () => {
  test('come for the secret of an application', async () => {
    const server = await openUpstream(answering(ANSWER))
    await tokenSourceOf(clientAuth(server.address), undefined)()
    expect(server.seen[0]!.url).toBe('/contoso/oauth2/v2.0/token')
    expect(formOf(server.seen[0]!.text)).toEqual({
      ...{ grant_type: 'client_credentials', client_id: 'app-1', client_secret: CLIENT_SECRET, scope: SCOPE },
    })
  })

  test('come for the assertion of a workload, which is read again for each token', async () => {
    const server = await openUpstream(answering(ANSWER))
    const tokenFile = join(dir, 'assertion')
    const source = tokenSourceOf(
      { type: 'azure-workload', tenant: 't', clientId: 'app-1', tokenFile, authority: server.address, scope: SCOPE },
      undefined,
    )
    writeFileSync(tokenFile, 'first\n')
    await source()
    writeFileSync(tokenFile, 'second\n')
    await source()
    expect(server.seen.map(({ text }) => formOf(text)['client_assertion'])).toEqual(['first', 'second'])
    rmSync(tokenFile)
    expect((await failure(source)).message).toBe('The token file of the workload identity cannot be read: ENOENT.')
  })

  test('of a managed identity come from the metadata server', async () => {
    const server = await openUpstream(answering({ ...ANSWER, expires_in: '3600', expires_on: '1' }))
    const endpoint = { url: server.address }
    await tokenSourceOf({ type: 'azure-managed', clientId: 'app-1', endpoint, scope: SCOPE }, undefined)()
    const { pathname, searchParams } = new URL(server.seen[0]!.url, 'http://h')
    expect(pathname).toBe('/metadata/identity/oauth2/token')
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ 'api-version': '2018-02-01', resource: 'https://ai.azure.com', client_id: 'app-1' },
    })
    expect(server.seen[0]!.headers['metadata']).toBe('true')
  })

  test('of a managed identity come from App Service, which states the end of a token only', async () => {
    const end = Math.floor(Date.now() / 1000) + 900
    const server = await openUpstream(answering({ access_token: 't', expires_on: String(end) }))
    const endpoint = { url: `${server.address}/msi/token`, secret: 'identity-header' }
    const token = await tokenSourceOf({ type: 'azure-managed', endpoint, scope: SCOPE }, undefined)()
    expect(Math.abs(token.until - end)).toBeLessThanOrEqual(1)
    expect(server.seen[0]!.url).toMatch(/^\/msi\/token\?api-version=2019-08-01&/)
    expect(server.seen[0]!.headers['x-identity-header']).toBe('identity-header')
  })

  test('of a managed identity come from a metadata server whose address ends with a slash', async () => {
    const server = await openUpstream(answering(ANSWER))
    await tokenSourceOf({ type: 'azure-managed', endpoint: { url: `${server.address}/` }, scope: SCOPE }, undefined)()
    expect(server.seen[0]!.url).toMatch(/^\/metadata\/identity/)
  })

  test.each([
    ['a date', { expires_on: new Date(Date.now() + 900_000).toISOString() }],
    ['a time beside an empty lifetime', { expires_in: '', expires_on: Math.floor(Date.now() / 1000) + 900 }],
  ])('of a managed identity end at %s', async (_, stated) => {
    const server = await openUpstream(answering({ access_token: 't', ...stated }))
    const auth = { type: 'azure-managed', endpoint: { url: server.address }, scope: SCOPE } as const
    const { until } = await tokenSourceOf(auth, undefined)()
    expect(Math.abs(until - Date.now() / 1000 - 900)).toBeLessThan(60)
  })

  test.each([
    [
      "Unable to generate access token; IAM returned 403 Forbidden: Permission 'x' denied.\nCheck it.\n",
      "Unable to generate access token; IAM returned 403 Forbidden: Permission 'x' denied. Check it.",
    ],
    [
      '{"statusCode":400,"message":"No User Assigned or Delegated Managed Identity found"}',
      'No User Assigned or Delegated Managed Identity found.',
    ],
    ['{"StatusCode":400,"Message":"Wrong resource."}', 'Wrong resource.'],
    ['{"error":{"code":"invalid","message":"Wrong identity"}}', 'Wrong identity.'],
    ['<html>No</html>', undefined],
  ])('that a metadata server refuses fail with its reason', async (text, reason) => {
    const server = await openUpstream(answering(text, 403))
    const source = tokenSourceOf({ type: 'google-metadata', host: new URL(server.address).host }, undefined)
    const answered = "Google's metadata server answered 403"
    expect((await failure(source)).message).toBe(reason === undefined ? `${answered}.` : `${answered}: ${reason}`)
  })
})

describe('a token server that gives none', () => {
  test.each([
    [
      'refuses',
      answering({ error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.' }, 401),
      'Microsoft Entra answered 401: invalid_client: AADSTS7000215: Invalid client secret.',
    ],
    ['answers a page', answering('<html>Sign in</html>'), 'Microsoft Entra answered without a token.'],
    ['answers no token', answering({}), 'Microsoft Entra answered without a token.'],
    [
      'answers a token that no header can hold',
      answering({ access_token: 'a\r\nb: c' }),
      'Microsoft Entra answered without a token.',
    ],
    [
      'answers an expired token',
      answering({ access_token: 't', expires_in: 0 }),
      'Microsoft Entra answered with an expired token.',
    ],
    ['redirects', answering('', 302), 'Microsoft Entra answered 302.'],
    [
      'answers too much',
      answering('x'.repeat(100_000)),
      'The request to Microsoft Entra failed: the answer is too large.',
    ],
  ] as const)('and %s is a fault of the account that an operator understands', async (_, script, message) => {
    const server = await openUpstream(script)
    const error = await failure(tokenSourceOf(clientAuth(server.address), undefined))
    expect(error).toMatchObject({ kind: 'upstream-account', message })
  })

  test('because it cannot be reached is a fault of the account, without its secret', async () => {
    const error = await failure(tokenSourceOf(clientAuth(await deadAddress()), undefined))
    expect(error.message).toMatch(/^The request to Microsoft Entra failed: /)
    expect(JSON.stringify(error)).not.toContain(CLIENT_SECRET)
  })
})

describe('default chains', () => {
  test('of Google use the metadata server of the machine', async () => {
    const server = await openUpstream((response, { url }) => {
      response.setHeader('metadata-flavor', 'Google')
      answering(url.endsWith('/token') || url.includes('/token?') ? ANSWER : 'x')(response, server.seen[0]!)
    })
    const host = new URL(server.address).host
    const token = await withEnvironment({ GCE_METADATA_HOST: host, HOME: dir, CLOUDSDK_CONFIG: dir }, () =>
      tokenSourceOf({ type: 'google-default' }, undefined)(),
    )
    expect(token.text).toBe('ya29.token')
    expect(token.until).toBeGreaterThan(Date.now() / 1000)
  })

  test('of AWS use the keys in the environment', async () => {
    const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' }
    const auth = { type: 'aws-default', region: 'r', service: 's' } as const
    const { text, until } = await withEnvironment(keys, () => tokenSourceOf(auth, undefined)())
    expect(JSON.parse(text)).toEqual({
      ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' },
    })
    expect(until).toBeGreaterThan(Date.now() / 1000)
  })
})

/** Runs with environment variables that are put back afterwards. */
async function withEnvironment<T>(variables: { readonly [name: string]: string }, run: () => Promise<T>): Promise<T> {
  const before = Object.keys(variables).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    return await run()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
