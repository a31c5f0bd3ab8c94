import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import { deadAddress, FakeUpstream, type Script } from '../../builders/upstream.ts'

/* Google's default credentials: workload identity federation with every source, and metadata servers that are late. */

const { closing, openUpstream } = opener()
const dir = mkdtempSync(join(tmpdir(), 'google-default-'))
afterAll(() => rmSync(dir, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())
beforeEach(() => {
  vi.stubEnv('HOME', '/nowhere')
  vi.stubEnv('CLOUDSDK_CONFIG', '/nowhere')
  for (const name of ['GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT', 'GOOGLE_APPLICATION_CREDENTIALS'])
    vi.stubEnv(name, undefined)
})

const AUTH = { type: 'google-default' } as const

const reasonOf = (thrown: GatewayError): string => thrown.error.message

test('the key of a service account of another universe signs tokens itself', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(dir, 'account.json')
  const account = {
    ...{ type: 'service_account', client_email: 'g@p.iam', token_uri: `${await deadAddress()}/token` },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    universe_domain: 'apis.example.com',
  }
  writeFileSync(file, JSON.stringify(account))
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
  const { text } = await tokenSourceOf(AUTH, undefined)()
  expect(decodeJwt(text)).toMatchObject({ iss: 'g@p.iam', scope: 'https://www.googleapis.com/auth/cloud-platform' })
})

describe('a workload that is federated', () => {
  /** A token server of Google. The workload may not read its project. */
  const granting =
    (fault: () => number | undefined = () => undefined): Script =>
    (response, { url, text }) => {
      response.setHeader('content-type', 'application/json')
      const status = url.startsWith('/projects') ? 403 : (fault() ?? 200)
      const subject = new URLSearchParams(text).get('subject_token') ?? ''
      const issued = { access_token: `token of ${subject.slice(0, 12)}`, expires_in: 3600, token_type: 'Bearer' }
      const answers: readonly (readonly [path: string, answer: object])[] = [
        ['/subject', { access_token: 'from-address' }],
        ['/impersonate', { accessToken: 'token of an account', expireTime: '2100-01-01T00:00:00Z' }],
        ['/', issued],
      ]
      response.statusCode = status
      response.end(status === 200 ? JSON.stringify(answers.find(([path]) => url.startsWith(path))![1]) : '{}')
    }

  function useFile(address: string, source: object, more: object = {}): void {
    const file = join(dir, 'external.json')
    const pool = '//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/pool/providers/p'
    const content = {
      type: 'external_account',
      audience: pool,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${address}/token`,
      cloud_resource_manager_url: `${address}/projects/`,
      credential_source: source,
      ...more,
    }
    writeFileSync(file, JSON.stringify(content))
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
  }

  const subject = join(dir, 'subject')
  writeFileSync(subject, 'from-a-file')
  const program = join(dir, 'program')
  const said = {
    version: 1,
    success: true,
    token_type: 'urn:ietf:params:oauth:token-type:jwt',
    id_token: 'from-program',
  }
  writeFileSync(program, `#!/bin/sh\necho '${JSON.stringify(said)}'\n`)
  chmodSync(program, 0o755)

  test.each<[name: string, (address: string) => object, token: string, more?: (address: string) => object]>([
    ['a file', () => ({ file: subject }), 'token of from-a-file'],
    [
      'an address',
      address => ({ url: `${address}/subject`, format: { type: 'json', subject_token_field_name: 'access_token' } }),
      'token of from-address',
    ],
    ['a program', () => ({ executable: { command: program, timeout_millis: 5000 } }), 'token of from-program'],
    [
      'AWS',
      () => ({ environment_id: 'aws1', regional_cred_verification_url: 'https://sts.{region}.amazonaws.com/' }),
      'token of %7B%22url%22',
    ],
    [
      'a file for a service account',
      () => ({ file: subject }),
      'token of an account',
      address => ({ service_account_impersonation_url: `${address}/impersonate` }),
    ],
  ])('by %s gets tokens without a permission to read its project', async (_, source, token, more) => {
    const server = await openUpstream(granting())
    useFile(server.address, source(server.address), more?.(server.address))
    vi.stubEnv('GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES', '1')
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    expect((await tokenSourceOf(AUTH, undefined)()).text).toBe(token)
    expect(server.seen.map(({ url }) => url)).not.toContain('/projects/123')
  })

  test.each([
    [503, 5],
    [400, undefined],
  ])('whose token server answers %d fails for %s seconds', async (status, retryAfterSeconds) => {
    const server = await openUpstream(granting(() => status))
    useFile(server.address, { file: subject })
    const error = await tokenSourceOf(AUTH, undefined)().then(
      () => expect.fail('a token'),
      (thrown: GatewayError) => thrown.error,
    )
    expect([error.kind, error.retryAfterSeconds]).toEqual(['upstream-account', retryAfterSeconds])
  })

  test('gets a new token after a failure, and for a renewed file', async () => {
    let fault: number | undefined = 400
    const server = await openUpstream(granting(() => fault))
    useFile(server.address, { file: subject })
    const source = tokenSourceOf(AUTH, undefined)
    await expect(source()).rejects.toThrow("Google's application default credentials failed")
    fault = undefined
    const first = await source()
    expect(first.text).toBe('token of from-a-file')
    writeFileSync(subject, 'renewed-file')
    expect((await source(first.text)).text).toBe('token of renewed-file')
    writeFileSync(subject, 'from-a-file')
  })
})

describe('a failure quotes nothing of', () => {
  const SECRET = 'MIIEvQIBADANBgkqhki'

  test.each([
    ['a private key', `{"type":"service_account","private_key":${SECRET}}`],
    ['a key', SECRET],
  ])('a file with %s that is no JSON', async (_, text) => {
    const file = join(dir, 'broken.json')
    writeFileSync(file, text)
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
    const reason = await tokenSourceOf(AUTH, undefined)().then(() => expect.fail('a token'), reasonOf)
    expect(reason).toMatch(/not valid JSON/)
    expect(reason).not.toContain(SECRET.slice(0, 6))
  })

  test('the answer of a program that is no JSON', async () => {
    const program = join(dir, 'wrong-program')
    writeFileSync(program, `#!/bin/sh\necho 'id_token=${SECRET}'\n`)
    chmodSync(program, 0o755)
    const file = join(dir, 'wrong-program.json')
    const content = {
      ...{ type: 'external_account', audience: '//iam.googleapis.com/projects/1/locations/global/x' },
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: await deadAddress(),
      credential_source: { executable: { command: program, timeout_millis: 5000 } },
    }
    writeFileSync(file, JSON.stringify(content))
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
    vi.stubEnv('GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES', '1')
    const reason = await tokenSourceOf(AUTH, undefined)().then(() => expect.fail('a token'), reasonOf)
    expect(reason).toContain('The executable returned an invalid response')
    expect(reason).not.toContain(SECRET)
  })
})

test('a metadata server that answers only some time after the start is used', async () => {
  const address = await deadAddress()
  vi.stubEnv('GCE_METADATA_HOST', new URL(address).host)
  const source = tokenSourceOf(AUTH, undefined)
  const refusal = await source().then(() => expect.fail('a token'), reasonOf)
  expect(refusal).toContain('Could not load the default credentials')
  const server = await FakeUpstream.open(
    (response, { url }) =>
      void response
        .writeHead(200, { 'metadata-flavor': 'Google', 'content-type': 'application/json' })
        .end(url.includes('/token') ? '{"access_token":"ya29.late","expires_in":3600}' : '{}'),
  )
  closing.push(() => server.close())
  vi.stubEnv('GCE_METADATA_HOST', new URL(server.address).host)
  expect((await source()).text).toBe('ya29.late')
})
