import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { cloudAnswers } from '../builders/clouds/answers.ts'
import { ACCESS, API_KEY, awsService, SECRET } from '../builders/clouds/aws.ts'
import { entra, googleMetadata, googleTokens, withCloudToken } from '../builders/clouds/token-servers.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'

/* The pages of clouds: every channel answers a request, and every command prints what its page says. */

const run = promisify(execFile)
const { openUpstream, openGateway } = opener()
const dir = mkdtempSync(join(tmpdir(), 'cloud-pages-'))
afterAll(() => rmSync(dir, { recursive: true }))

const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) if (before[name] === undefined) delete process.env[name]
})

const SECRETS = { AZURE_CLIENT_SECRET: 'entra-client-secret', AZURE_OPENAI_API_KEY: 'azure-key-1234' }
const COHERE_KEY = 'cohere-key-1234'
const EXPRESS_KEY = 'express-key-1234'

/** Accepts requests with one of these values of a header, and refuses all others. */
const withHeader =
  (name: string, value: string, script: Script, other: Script): Script =>
  (response, seen) =>
    (seen.headers[name] === value ? script : other)(response, seen)

const refusing: Script = response => response.writeHead(401).end('{}')

/** A cloud of a page: the environment of its channels, and the upstream that checks their credentials. */
type Cloud = () => Promise<{ readonly env: { readonly [name: string]: string }; readonly script: Script }>

const bedrock: Cloud = async () => {
  const file = join(dir, 'aws-credentials')
  writeFileSync(file, `[gateway]\naws_access_key_id = ${ACCESS}\naws_secret_access_key = ${SECRET}\n`)
  const services = ['bedrock', 'bedrock-mantle'].map(service =>
    awsService({ region: 'eu-central-1', service }, cloudAnswers),
  )
  return {
    env: {
      ...{ AWS_BEARER_TOKEN_BEDROCK: API_KEY, AWS_ACCESS_KEY_ID: ACCESS, AWS_SECRET_ACCESS_KEY: SECRET },
      AWS_SHARED_CREDENTIALS_FILE: file,
    },
    script: (response, seen) =>
      services[String(seen.headers.authorization).includes('/bedrock-mantle/') ? 1 : 0]!(response, seen),
  }
}

const vertex: Cloud = async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const email = 'gateway@my-project.iam.gserviceaccount.com'
  const tokens = await openUpstream(googleTokens(email, privateKey))
  const metadata = await openUpstream(googleMetadata)
  const file = join(dir, 'account.json')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  writeFileSync(file, JSON.stringify({ client_email: email, private_key: pem, token_uri: `${tokens.address}/token` }))
  return {
    env: {
      ...{ GOOGLE_APPLICATION_CREDENTIALS: file, GOOGLE_VERTEX_API_KEY: EXPRESS_KEY },
      GCE_METADATA_HOST: new URL(metadata.address).host,
    },
    script: withHeader('x-goog-api-key', EXPRESS_KEY, cloudAnswers, withCloudToken(cloudAnswers)),
  }
}

const azure: Cloud = async () => {
  const scope = 'https://ai.azure.com/.default'
  const app = { tenant: 'contoso.example', clientId: 'my-app', secret: SECRETS.AZURE_CLIENT_SECRET, scope }
  const { address } = await openUpstream(entra(app))
  return {
    env: { ...SECRETS, AZURE_AUTHORITY_HOST: address, IDENTITY_ENDPOINT: address },
    script: withHeader('api-key', SECRETS.AZURE_OPENAI_API_KEY, cloudAnswers, withCloudToken(cloudAnswers)),
  }
}

const cohere: Cloud = async () => ({
  env: { COHERE_API_KEY: COHERE_KEY },
  script: withHeader('authorization', `Bearer ${COHERE_KEY}`, cloudAnswers, refusing),
})

const CLOUDS: { readonly [page: string]: Cloud } = { bedrock, vertex, azure, cohere }

const pageOf = (name: string): string => readFileSync(`docs/clouds/${name}.md`, 'utf8')

/** Opens the cloud of a page, and reads the channels of the page for it. Their addresses are replaced by the cloud's. */
async function openCloud(page: string) {
  const { env, script } = await CLOUDS[page]!()
  const upstream = await openUpstream(script)
  // Default chains read the environment of the process.
  for (const name of ['AWS_SHARED_CREDENTIALS_FILE', 'GCE_METADATA_HOST']) if (env[name]) process.env[name] = env[name]
  Object.assign(process.env, { HOME: dir, CLOUDSDK_CONFIG: dir })
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(pageOf(page))!
  const { channels } = readConfig(yaml!, env)
  return { upstream, channels: channels.map(channel => at(channel, upstream.address)) }
}

const at = (channel: ChannelConfig, address: string): ChannelConfig => ({
  ...channel,
  formats: channel.formats.map(format => {
    expect(new URL(format.baseUrl).protocol).toBe('https:')
    return { ...format, baseUrl: format.baseUrl.replace(new URL(format.baseUrl).origin, address) }
  }),
})

/** A model of a channel, as callers name it. */
const modelOf = ({ models: { named, patterns } }: ChannelConfig): string =>
  [...named.keys()][0] ?? patterns[0]!.replace('*', '3-pro')

/** A command of a page, and what it prints. */
const COMMAND = /^```sh\n(?!export IL=)([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm

test('every page of a cloud has a test, and every preset of a cloud a page', () => {
  const pages = globSync('docs/clouds/*.md').map(path => path.slice('docs/clouds/'.length, -'.md'.length))
  expect(pages.sort()).toEqual(Object.keys(CLOUDS).sort())
  const text = pages.map(pageOf).join('\n')
  const presets = [...PRESETS.values()].filter(({ cloud }) => cloud !== undefined).map(({ name }) => name)
  expect(presets.filter(name => !text.includes(`| \`${name}\` |`))).toEqual([])
})

describe.each(Object.keys(CLOUDS))('the page of %s', page => {
  test('has channels that sign in and answer', async () => {
    const { channels } = await openCloud(page)
    for (const channel of channels) {
      const gateway = await openGateway([channel])
      const body = { model: modelOf(channel), max_tokens: 100, messages: [{ role: 'user', content: 'Say hello.' }] }
      const answer = await gateway.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
      expect(answer.json.content, `${channel.name}: ${answer.text} ${JSON.stringify(gateway.lines)}`).toMatchObject([
        { text: 'Hello.' },
      ])
    }
  })

  test('has commands that print what it says', async () => {
    const { channels } = await openCloud(page)
    const gateway = await openGateway(channels)
    const env = { PATH: process.env['PATH'], IL: gateway.server.address, INTERLINGUA_KEY: KEY }
    const commands = [...pageOf(page).matchAll(COMMAND)]
    expect(commands.length).toBe(pageOf(page).split('```sh\n').length - 2)
    for (const [, command, printed] of commands) {
      const { stdout } = await run('bash', ['-o', 'pipefail', '-c', command!], { cwd: dir, env })
      expect(stdout.trimEnd(), command).toBe(printed!.trimEnd())
    }
  })
})
