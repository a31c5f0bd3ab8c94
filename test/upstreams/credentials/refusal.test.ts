import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read.ts'
import { json } from '../../builders/chat.ts'
import { cloudAnswers } from '../../builders/clouds/answers.ts'
import { ACCESS, API_KEY, awsService, ENDED_SESSION, SECRET, type Service } from '../../builders/clouds/aws.ts'
import { entra, googleTokens, withCloudToken } from '../../builders/clouds/token-servers.ts'
import { VERSION } from '../../builders/http.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* Credentials that a cloud refuses: what callers and operators learn of it. */

const { openUpstream, openGateway } = opener()
const dir = mkdtempSync(join(tmpdir(), 'refusals-'))
afterAll(() => rmSync(dir, { recursive: true }))

const TO_CALLERS = "The upstream does not serve the gateway's account at present."
const MINUTE = 60_000
const MODEL = 'claude-opus-4-8'
const TURNS = [{ role: 'user', content: 'Hi' }]

/** A gateway with one channel to an upstream, whose fields are YAML. */
async function cloud(fields: string, script: Script) {
  const upstream = await openUpstream(script)
  const text = `channels: [{ name: c, base_url: "${upstream.address}", models: ["*"], ${fields} }]`
  const gateway = await openGateway(readConfig(text, {}).channels)
  const message = (stream = false) =>
    gateway.ask('/v1/messages', { model: MODEL, max_tokens: 9, messages: TURNS, stream }, { headers: VERSION })
  const converse = (operation: string) =>
    gateway.ask(`/model/${MODEL}/${operation}`, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] })
  const saidToOperators = (): string =>
    String(gateway.lines.find(({ message: line }) => line === 'a channel failed')?.fields['said'])
  return { gateway, upstream, message, converse, saidToOperators }
}

/** Checks that the caller learns that the account is refused and nothing else, whole, streamed and in AWS's form. */
async function expectRefused({ gateway, message, converse, saidToOperators }: Awaited<ReturnType<typeof cloud>>) {
  for (const stream of [false, true]) {
    const { status, json: body } = await message(stream)
    expect([status, body.error.message]).toEqual([503, TO_CALLERS])
  }
  for (const operation of ['converse', 'converse-stream']) {
    const { status, headers, json: body } = await converse(operation)
    expect([status, headers['x-amzn-errortype'], body.message]).toEqual([
      ...[503, 'ServiceUnavailableException', TO_CALLERS],
    ])
  }
  for (const secret of [SECRET, ACCESS, ENDED_SESSION, ENTRA_SECRET])
    expect(JSON.stringify(gateway.lines)).not.toContain(secret)
  return saidToOperators()
}

const ENTRA_SECRET = 'entra-client-secret'

describe('AWS refuses', () => {
  const EU: Service = { region: 'eu-west-1', service: 'bedrock' }
  const keys = (fields: object = {}): string => {
    const auth = { type: 'aws-keys', access_key_id: ACCESS, secret_access_key: SECRET, ...fields }
    return `auth: ${JSON.stringify(auth)}, region: eu-west-1`
  }

  test.each([
    ['an unknown API key', 'key: another-api-key, region: eu-west-1', EU, /API Key is valid\. A Bedrock API key/],
    ['an unknown access key', keys({ access_key_id: 'AKIAANOTHER' }), EU, /is invalid\. AWS does not know the access/],
    ['a wrong secret key', keys({ secret_access_key: 'another' }), EU, /does not match .* Check `secret_access_key`/],
    ['a session that ended', keys({ session_token: ENDED_SESSION }), EU, /The session token has expired: set/],
    ['another region', keys(), { ...EU, region: 'us-east-1' }, /The channel signs for a different region/],
    ['another service', keys(), { ...EU, service: 'bedrock-mantle' }, /signs for a different service/],
    ['a clock that is behind', keys(), { ...EU, ahead: 12 * MINUTE }, /expired: .* clock is 12 minutes behind the/],
    ['a clock that is ahead', keys(), { ...EU, ahead: -90 * MINUTE }, /not yet current.* clock is 90 minutes ahead of/],
  ] as const)('%s, with a cause and a remedy for operators', async (_, fields, service, said) => {
    for (const provider of ['bedrock', 'bedrock-converse', 'bedrock-invoke'])
      expect(
        await expectRefused(await cloud(`provider: ${provider}, ${fields}`, awsService(service, cloudAnswers))),
      ).toMatch(said)
  })

  test('nothing of a correct credential, with a clock that differs by four minutes', async () => {
    for (const fields of [keys(), `key: ${API_KEY}, region: eu-west-1`, keys({ session_token: 'session' })]) {
      const service = { ...EU, ahead: 3.9 * MINUTE }
      const { message, converse } = await cloud(
        `provider: bedrock-converse, ${fields}`,
        awsService(service, cloudAnswers),
      )
      expect((await message()).json.content[0].text).toBe('Hello.')
      expect((await converse('converse')).json.output.message.content).toEqual([{ text: 'Hello.' }])
    }
  })
})

describe('Google Cloud refuses', () => {
  const EMAIL = 'gateway@p-1.iam.gserviceaccount.com'
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signedIn = async (script: Script, { email = EMAIL, key = pair.privateKey, ahead = 0 } = {}) => {
    const tokens = await openUpstream(googleTokens(EMAIL, pair.privateKey, ahead))
    const file = join(dir, 'account.json')
    const account = {
      ...{ type: 'service_account', client_email: email, token_uri: `${tokens.address}/token` },
      private_key: key.export({ type: 'pkcs8', format: 'pem' }),
    }
    writeFileSync(file, JSON.stringify(account))
    const auth = `auth: { type: google-service-account, file: "${file}" }`
    return cloud(`provider: vertex-claude, project: p-1, region: europe-west4, ${auth}`, withCloudToken(script))
  }

  test.each([
    ['an unknown service account', { email: 'nobody@p-1.iam.gserviceaccount.com' }, /400: invalid_grant: .*not found/],
    ['a wrong private key', { key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }, /JWT Signature/],
    ['a wrong clock', { ahead: -7200 }, /reasonable timeframe\. This machine's clock is 120 minutes ahead of/],
  ])('%s, at its token server', async (_, wrong, said) => {
    expect(await expectRefused(await signedIn(cloudAnswers, wrong))).toMatch(said)
  })

  test('an account without the permission', async () => {
    const denied = "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/x'."
    const error = { code: 403, message: denied, status: 'PERMISSION_DENIED' }
    const script: Script = response => response.writeHead(403, JSON_TYPE).end(JSON.stringify({ error }))
    expect(await expectRefused(await signedIn(script))).toMatch(
      /denied on .* Give the account the role "Vertex AI User"/,
    )
  })

  test('a model in another region, which is a missing model', async () => {
    const missing = 'Publisher Model `projects/p-1/locations/europe-west4/publishers/anthropic/models/x` was not found.'
    const error = { code: 404, message: missing, status: 'NOT_FOUND' }
    const script: Script = response => response.writeHead(404, JSON_TYPE).end(JSON.stringify({ error }))
    const { message, saidToOperators } = await signedIn(script)
    const { status, json: body } = await message()
    expect([status, body.error.type]).toEqual([404, 'not_found_error'])
    expect(saidToOperators()).toBe(missing)
  })

  test('nothing of a correct account', async () => {
    const { message } = await signedIn(cloudAnswers)
    for (const stream of [false, true]) expect((await message(stream)).text).toContain('Hello.')
  })
})

describe('Azure refuses', () => {
  const APP = {
    tenant: 'contoso.example',
    clientId: 'app-1',
    secret: ENTRA_SECRET,
    scope: 'https://ai.azure.com/.default',
  }
  const signedIn = async (wrong: object) => {
    const authority = (await openUpstream(entra(APP))).address
    const auth = {
      type: 'azure-client',
      tenant: APP.tenant,
      client_id: APP.clientId,
      client_secret: APP.secret,
      authority,
    }
    const fields = `auth: ${JSON.stringify({ ...auth, ...wrong })}`
    return cloud(`provider: azure-foundry, resource: r, ${fields}`, withCloudToken(cloudAnswers))
  }

  test.each([
    ['an unknown tenant', { tenant: 'nobody' }, /^Microsoft Entra answered 400: .*Tenant 'nobody' not found\.$/],
    ['an unknown application', { client_id: 'nobody' }, /'nobody' was not found in the directory\.$/],
    ['a wrong client secret', { client_secret: 'another-secret' }, /401: invalid_client: .*Invalid client secret/],
    ['a wrong scope', { scope: 'https://other.example/.default' }, /scope is not valid\.$/],
  ])('%s, at Microsoft Entra', async (_, wrong, said) => {
    expect(await expectRefused(await signedIn(wrong))).toMatch(said)
  })

  test.each([
    [
      'a wrong API key',
      'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key.',
      /valid key\. The key belongs to another resource/,
    ],
    ['a token for another audience', 'The audience is incorrect.', /incorrect\. The token has the wrong scope/],
  ])('%s', async (_, message, said) => {
    const script: Script = response =>
      response.writeHead(401, JSON_TYPE).end(JSON.stringify({ error: { code: '401', message } }))
    const refusing = await cloud('provider: azure-foundry, resource: r, key: azure-key-1234', script)
    expect(await expectRefused(refusing)).toMatch(said)
  })

  test('nothing of a correct application', async () => {
    expect((await (await signedIn({})).message()).json.content[0].text).toBe('Hello.')
  })
})

test('keys of a default chain are read again after AWS refused them', async () => {
  // The chain reads the environment of the process.
  const before = { ...process.env }
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: ACCESS, AWS_SECRET_ACCESS_KEY: 'rotated-away' })
  try {
    const { message } = await cloud(
      'provider: bedrock-converse, region: eu-west-1, auth: { type: aws-default }',
      awsService({ region: 'eu-west-1', service: 'bedrock' }, cloudAnswers),
    )
    expect((await message()).status).toBe(503)
    process.env['AWS_SECRET_ACCESS_KEY'] = SECRET
    expect((await message()).json.content[0].text).toBe('Hello.')
  } finally {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
  }
})

test('an error of the caller has no advice', async () => {
  const script: Script = (response, seen) =>
    seen.method === 'GET'
      ? json(response, {} as never)
      : response
          .writeHead(400, { ...JSON_TYPE, 'x-amzn-errortype': 'ValidationException' })
          .end('{"message":"The provided model identifier is invalid."}')
  const { converse } = await cloud('provider: bedrock-converse, key: k, region: r', script)
  const { status, json: body } = await converse('converse')
  expect([status, body.message]).toEqual([400, 'The provided model identifier is invalid.'])
})

const JSON_TYPE = { 'content-type': 'application/json' }
