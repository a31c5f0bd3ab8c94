import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { secretsOf } from '../../src/config/auth.ts'
import type { ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'
import { PRESETS } from '../../src/formats/presets.ts'
import { signedWithKey } from '../../src/upstreams/credentials/signed-jwt.ts'

const dir = mkdtempSync(join(tmpdir(), 'auth-'))
afterAll(() => rmSync(dir, { recursive: true }))

type Env = { readonly [name: string]: string }
const channel = (fields: string, env: Env = {}) =>
  readConfig(`channels: [{ name: c, models: [m], ${fields} }]`, env).channels[0]!

function faultsOf(fields: string, env: Env = {}): string[] {
  try {
    channel(fields, env)
    return []
  } catch (thrown) {
    return (thrown as ConfigError).faults.map(({ path, message }) => `${path}: ${message}`)
  }
}

const KEYS = 'type: aws-keys, access_key_id: a, secret_access_key: b'

describe('the sign-in of a channel', () => {
  test.each([
    ['provider: bedrock, key: k', 'channels[0].region: is missing, and AWS_REGION is not set'],
    [
      'provider: bedrock, region: r',
      'channels[0].key: is missing, and AWS_BEARER_TOKEN_BEDROCK is not set; `auth` signs in to the cloud without a key',
    ],
    [
      'provider: bedrock, region: r, auth: { type: aws-keys, secret_access_key: b }',
      'channels[0].auth.access_key_id: is missing, and AWS_ACCESS_KEY_ID is not set',
    ],
    [`provider: bedrock, region: r, key: k, auth: { ${KEYS} }`, 'channels[0].key: cannot be set together with `auth`'],
    [
      `provider: bedrock, region: r, keys: [k], auth: { ${KEYS} }`,
      'channels[0].keys: cannot be set together with `auth`',
    ],
    [
      `provider: openai, auth: { ${KEYS} }`,
      'channels[0].auth: does not fit the provider "openai", which is not an AWS service',
    ],
    [
      `provider: bedrock, region: r, auth: { ${KEYS}, tenant: t }`,
      'channels[0].auth.tenant: has no effect with type "aws-keys"',
    ],
    ['provider: openai, key: k, region: r', 'channels[0].region: has no effect with the provider "openai"'],
    [
      'provider: vertex, auth: { type: google-default }',
      'channels[0].project: is missing, and GOOGLE_CLOUD_PROJECT is not set',
    ],
    [
      'provider: vertex, project: p, auth: { type: google-service-account }',
      'channels[0].auth.file: is missing, and GOOGLE_APPLICATION_CREDENTIALS is not set',
    ],
    [
      `provider: vertex, project: p, auth: { type: google-service-account, file: '{"private_key":"k"}' }`,
      'channels[0].auth.file: is the text of a key file instead of its name: write it as `account`',
    ],
    [
      'provider: vertex, project: p, auth: { type: google-service-account, file: /nowhere.json }',
      'channels[0].auth.file: cannot be read: ENOENT',
    ],
    [
      'provider: azure-foundry, resource: r, auth: { type: azure-client, client_id: a, client_secret: s }',
      'channels[0].auth.tenant: is missing, and AZURE_TENANT_ID is not set',
    ],
    [
      'provider: custom, formats: [chat], base_url: "http://u/v1", auth: { type: azure-default }',
      'channels[0].auth.scope: is missing',
    ],
    ['provider: vertex, project: "a/b", key: none', 'channels[0].project: has a character that an address cannot hold'],
    [
      'provider: bedrock, region: r, auth: { type: aws }',
      'channels[0].auth.type: expected "aws-keys" or "aws-default" or "google-service-account" or "google-metadata" or "google-default" or "azure-client" or "azure-managed" or "azure-workload" or "azure-default", found "aws"',
    ],
  ])('that cannot work is a fault: %s', (fields, fault) => {
    expect(faultsOf(fields)[0]).toBe(fault)
  })

  test('never shows a secret or the content of a key file in a fault', () => {
    const file = join(dir, 'account.json')
    writeFileSync(file, '{"client_email":"a","private_key":"-----BEGIN PRIVATE KEY----- the-private-part"}')
    const fields = `provider: vertex, project: p, auth: { type: google-service-account, file: "${file}" }`
    expect(faultsOf(fields)).toEqual(['channels[0].auth.file: is not the key file of a service account'])
    const wrong =
      'provider: bedrock, region: r, auth: { type: aws-keys, access_key_id: a, secret_access_key: [the-secret] }'
    expect(faultsOf(wrong).join()).not.toContain('the-secret')
  })

  test.each<[name: string, written: (pkcs8: string, pkcs1: string) => string]>([
    ['PKCS #8', pkcs8 => pkcs8],
    ['PKCS #1', (_, pkcs1) => pkcs1],
    ['a block behind an empty line', pkcs8 => `\n${pkcs8}`],
    ['a block behind attributes', pkcs8 => `Bag Attributes\n${pkcs8}`],
    ['lines of Windows', pkcs8 => pkcs8.replaceAll('\n', '\r\n')],
  ])('signs with a private key that is written as %s', async (_, written) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const [pkcs8, pkcs1] = (['pkcs8', 'pkcs1'] as const).map(
      type => privateKey.export({ type, format: 'pem' }) as string,
    )
    const account = { client_email: 'a@b', private_key: written(pkcs8!, pkcs1!) }
    const file = join(dir, 'any-key.json')
    writeFileSync(file, JSON.stringify(account))
    const { auth } = channel(`provider: vertex, project: p, auth: { type: google-service-account, file: "${file}" }`)
    if (auth?.type !== 'google-service-account') return expect.fail('no service account')
    expect(await signedWithKey({ iss: 'a' }, auth.account.privateKey, undefined)).toMatch(/^eyJ/)
  })

  test.each([
    ['googleapis.com', undefined],
    ['', undefined],
    ['apis.example.com', 'apis.example.com'],
  ])('reads the universe %s of a key file', (domain, universe) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const file = join(dir, 'universe.json')
    writeFileSync(file, JSON.stringify({ client_email: 'a@b', private_key: key, universe_domain: domain }))
    const { auth } = channel(`provider: vertex, project: p, auth: { type: google-service-account, file: "${file}" }`)
    if (auth?.type !== 'google-service-account') return expect.fail('no service account')
    expect(auth.account.universe).toBe(universe)
  })

  test.each(['metadata.example', 'http://metadata.example', 'http://metadata.example/'])(
    'takes %s for the host of a metadata server, as Google’s libraries do',
    host => {
      const { auth } = channel('provider: vertex, project: p, auth: { type: google-metadata }', {
        GCE_METADATA_HOST: host,
      })
      expect(auth).toEqual({ type: 'google-metadata', host: 'metadata.example' })
    },
  )

  test('takes what is not written from the usual variables', () => {
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c', AWS_DEFAULT_REGION: 'r' }
    const { auth, key, formats } = channel('provider: bedrock, auth: { type: aws-keys }', env)
    expect(auth).toEqual({
      ...{ type: 'aws-keys', region: 'r', service: 'bedrock' },
      ...{ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' },
    })
    expect(key).toBeUndefined()
    expect(formats.map(({ baseUrl, auth }) => [baseUrl, auth])).toEqual([
      ['https://bedrock-runtime.r.amazonaws.com/anthropic', 'none'],
      ['https://bedrock-runtime.r.amazonaws.com/openai/v1', 'none'],
      ['https://bedrock-runtime.r.amazonaws.com/openai/v1', 'none'],
    ])
    expect(secretsOf(auth!)).toEqual(['b', 'a', 'c'])
  })

  test('does not mix written keys with the session token of others', () => {
    const { auth } = channel(`provider: bedrock, region: r, auth: { ${KEYS} }`, { AWS_SESSION_TOKEN: 'of-others' })
    expect(auth).not.toHaveProperty('sessionToken')
  })

  test.each([
    ['global', 'https://aiplatform.googleapis.com/v1'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com/v1'],
  ])('addresses Google Cloud by the region %s', (region, base) => {
    const { formats } = channel(`provider: vertex, project: p, region: ${region}, auth: { type: google-default }`)
    expect(formats[0]!.baseUrl).toBe(`${base}/projects/p/locations/${region}/publishers/google`)
  })

  test.each([
    ['eu-central-1', 'amazonaws.com', 'api.aws'],
    ['us-gov-west-1', 'amazonaws.com', 'api.aws'],
    ['eusc-de-east-1', 'amazonaws.eu', 'api.amazonwebservices.eu'],
    ['cn-north-1', 'amazonaws.com.cn', 'api.amazonwebservices.com.cn'],
    ['us-iso-east-1', 'c2s.ic.gov', 'api.aws.ic.gov'],
    ['us-isob-east-1', 'sc2s.sgov.gov', 'api.aws.scloud'],
    ['eu-isoe-west-1', 'cloud.adc-e.uk', 'api.cloud-aws.adc-e.uk'],
    ['us-isof-south-1', 'csp.hci.ic.gov', 'api.aws.hci.ic.gov'],
  ])('addresses AWS in the partition of the region %s', (region, domain, dualStack) => {
    const hostsOf = (provider: string) =>
      channel(`provider: ${provider}, region: ${region}, auth: { ${KEYS} }`).formats.map(
        ({ baseUrl }) => new URL(baseUrl).host,
      )
    const runtime = `bedrock-runtime.${region}.${domain}`
    expect(new Set(['bedrock', 'bedrock-converse', 'bedrock-invoke'].flatMap(hostsOf))).toEqual(new Set([runtime]))
    expect(new Set(hostsOf('bedrock-mantle'))).toEqual(new Set([`bedrock-mantle.${region}.${dualStack}`]))
  })

  test('needs no part of a host that `base_url` replaces', () => {
    const { formats } = channel('provider: azure-foundry, key: k, base_url: "http://proxy:1/x/"')
    expect(formats[0]!.baseUrl).toBe('http://proxy:1/x/anthropic')
  })

  test('of a gateway without a config is not guessed from half of the variables', () => {
    const { channels } = readConfig('', { AWS_BEARER_TOKEN_BEDROCK: 'k' })
    expect(channels.map(({ provider }) => provider)).toEqual(['replay'])
    const whole = readConfig('', { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'r' })
    const signedIn = [...PRESETS.values()].filter(({ env }) => env.includes('AWS_BEARER_TOKEN_BEDROCK'))
    expect(whole.channels.map(({ provider }) => provider)).toEqual(signedIn.map(({ name }) => name))
  })
})
