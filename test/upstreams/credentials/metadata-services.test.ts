import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import { authOf } from '../../../src/config/auth.ts'
import { PRESETS } from '../../../src/formats/index.ts'
import { AccessToken } from '../../../src/upstreams/credentials/access-token.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* The clouds' metadata services, played on the loopback: what they answer, refuse, change and leave open. */

const { openUpstream } = opener()
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'metadata-services-'))
  const env = { HOME: home, AWS_CONFIG_FILE: join(home, 'no'), AWS_SHARED_CREDENTIALS_FILE: join(home, 'no') }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  for (const name of ['AWS_REGION', 'AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ROLE_ARN'])
    vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

const AWS = { type: 'aws-default', region: 'eu-west-1', service: 'bedrock' } as const
const after = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
const keys = (id: string, seconds = 3600) => ({
  ...{ Code: 'Success', Type: 'AWS-HMAC', AccessKeyId: id, SecretAccessKey: 's', Token: 't' },
  Expiration: after(seconds),
})
const idOf = (text: string): string => JSON.parse(text).accessKeyId

/** The metadata service of an instance, version 2. `answer` gives the keys. */
const instance =
  (answer: () => object, isSession = (value: unknown): boolean => value === 'session'): Script =>
  (response, { method, url, headers }) => {
    if (url.endsWith('/api/token')) return response.writeHead(method === 'PUT' ? 200 : 405).end('session')
    if (!isSession(headers['x-aws-ec2-metadata-token'])) return response.writeHead(401).end()
    return response.end(url.endsWith('/security-credentials/') ? 'role' : JSON.stringify(answer()))
  }

describe('an instance of AWS', () => {
  const use = async (script: Script) => {
    const server = await openUpstream(script)
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', server.address)
    return server
  }

  test('gives keys to a session, and other keys when they are rotated', async () => {
    let id = 'ASIAONE'
    await use(instance(() => keys(id)))
    const source = tokenSourceOf(AWS, undefined)
    expect(idOf((await source()).text)).toBe('ASIAONE')
    id = 'ASIATWO'
    expect(idOf((await source()).text)).toBe('ASIATWO')
  })

  test('that hands out ended keys, as in an outage, has them used for some minutes', async () => {
    await use(instance(() => keys('ASIAOLD', -60)))
    const { text, until } = await tokenSourceOf(AWS, undefined)()
    expect(idOf(text)).toBe('ASIAOLD')
    expect(until).toBeGreaterThan(Date.now() / 1000 + 60)
  })

  test('that refuses sessions of containers is a fault with the reason', async () => {
    await use(response => response.writeHead(401).end())
    await expect(tokenSourceOf(AWS, undefined)()).rejects.toThrow("AWS's default credentials returned no keys")
  })

  test('that never answers is a fault in time, and its old keys serve until their end', {
    timeout: 30_000,
  }, async () => {
    let hangs = false
    const answering = instance(() => keys('ASIAONE', 400))
    await use((response, seen) => (hangs ? undefined : answering(response, seen)))
    const state = { now: Date.now() }
    const failures: string[] = []
    const token = new AccessToken(
      tokenSourceOf(AWS, undefined),
      ({ message }) => failures.push(message),
      () => state.now,
    )
    await token.ready()
    hangs = true
    state.now += 380_000
    const began = performance.now()
    expect(token.ready()).toBeUndefined()
    await vi.waitFor(() => expect(failures.length).toBe(1), 20_000)
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(idOf(token.text!)).toBe('ASIAONE')
  })
})

describe('a container of AWS', () => {
  test('gets keys with the token of a file that is rotated, as a pod of EKS', async () => {
    const file = join(home, 'token')
    const server = await openUpstream((response, { headers }) =>
      headers['authorization'] === 'pod-token-2'
        ? response.setHeader('content-type', 'application/json').end(JSON.stringify(keys('ASIAPOD')))
        : response.writeHead(403).end('{"message":"expired"}'),
    )
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${server.address}/v1/credentials`)
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file)
    const source = tokenSourceOf(AWS, undefined)
    await expect(source()).rejects.toThrow()
    writeFileSync(file, 'pod-token-1')
    await expect(source()).rejects.toThrow()
    writeFileSync(file, 'pod-token-2')
    expect(idOf((await source()).text)).toBe('ASIAPOD')
  })

  test.each([
    ['refuses', 403, 'status: 403', undefined],
    ['is throttled', 429, 'status: 429', 5],
    ['restarts', 503, 'status: 503', 5],
    ['is not there', undefined, 'ECONNREFUSED', 5],
  ])('whose server of keys %s says so, and whether it passes by itself', async (_, status, reason, delay) => {
    const server = await openUpstream(response => response.writeHead(status ?? 500).end('{}'))
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', status === undefined ? 'http://127.0.0.1:9/' : server.address)
    const failure = await tokenSourceOf(AWS, undefined)().then(
      () => expect.fail('keys'),
      (thrown: GatewayError) => thrown,
    )
    expect(failure.error).toMatchObject({ kind: 'upstream-account', message: expect.stringContaining(reason) })
    expect(failure.error.retryAfterSeconds).toBe(delay)
  })
})

/** A metadata server that states the lifetime of its token in seconds. */
const bearer =
  (text: () => string, lifetime: () => unknown): Script =>
  response =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ access_token: text(), expires_in: lifetime(), token_type: 'Bearer' }))

describe('a server of tokens on the machine', () => {
  const google = (address: string) => ({ type: 'google-metadata', host: new URL(address).host }) as const

  test('is asked once by thousands of requests at the moment of a renewal, and none of them waits', async () => {
    let count = 0
    const server = await openUpstream(
      bearer(
        () => `token-${++count}`,
        () => 3600,
      ),
    )
    const state = { now: Date.now() }
    const token = new AccessToken(tokenSourceOf(google(server.address), undefined), undefined, () => state.now)
    await Promise.all(Array.from({ length: 3000 }, () => token.ready()))
    expect([token.text, server.seen.length]).toEqual(['token-1', 1])
    state.now += 3_400_000
    for (let index = 0; index < 3000; index++) expect(token.ready()).toBeUndefined()
    await vi.waitFor(() => expect(token.text).toBe('token-2'))
    expect(server.seen.length).toBe(2)
  })

  test('that gives the same token until its last minutes is asked ever later, not with every request', async () => {
    const state = { now: Date.now() }
    const end = state.now + 3_600_000
    const server = await openUpstream(
      bearer(
        () => 'token',
        () => Math.round((end - state.now) / 1000),
      ),
    )
    // Tokens end by the clock of the machine, which stands still here.
    const source = tokenSourceOf(google(server.address), undefined)
    const token = new AccessToken(
      async refused => {
        const { until, ...rest } = await source(refused)
        return { ...rest, until: until - Date.now() / 1000 + state.now / 1000 }
      },
      undefined,
      () => state.now,
    )
    await token.ready()
    while (state.now < end - 2000) {
      state.now += 1000
      await token.ready()
      await new Promise(setImmediate)
    }
    expect(server.seen.length).toBeLessThan(15)
  })

  test.each<[string, string, unknown, number]>([
    ['a number as text', '3599', undefined, 3599],
    ['a time', '', String(Math.round(Date.now() / 1000) + 1800), 1800],
    ['nothing', '', undefined, 3600],
  ])('of Azure states the end as %s', async (_, lifetime, end, seconds) => {
    const server = await openUpstream(response =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ access_token: 'a', ...(lifetime && { expires_in: lifetime }), expires_on: end })),
    )
    const endpoint = { url: server.address }
    const token = await tokenSourceOf(
      { type: 'azure-managed', scope: 'https://ai.azure.com/.default', endpoint },
      undefined,
    )()
    expect(Math.abs(token.until - Date.now() / 1000 - seconds)).toBeLessThan(60)
    expect(server.seen[0]!.url).toBe(
      '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fai.azure.com',
    )
    expect(server.seen[0]!.headers['metadata']).toBe('true')
  })
})

test.each([
  ['azure-deployments', 'https://cognitiveservices.azure.us/.default', 'https://login.microsoftonline.us'],
  ['azure-foundry', 'https://ai.azure.cn/.default', 'https://login.partner.microsoftonline.cn'],
])('an account of %s of another cloud of Azure signs in at its authority', (provider, scope, authority) => {
  const written = { type: 'azure-client', tenant: 't', client_id: 'c', client_secret: 's', scope } as const
  const faults: unknown[] = []
  const env = { AZURE_AUTHORITY_HOST: `${authority}/` }
  const auth = authOf(written, PRESETS.get(provider)!, { region: undefined, env }, (...fault) => faults.push(fault))
  expect(auth).toMatchObject({ scope, authority })
  expect(faults).toEqual([])
})
