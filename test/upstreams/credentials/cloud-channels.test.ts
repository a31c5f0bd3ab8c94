import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { signatureFault } from '../../builders/clouds/sigv4-verifier.ts'
import { VERSION } from '../../builders/http.ts'
import { opener } from '../../builders/opener.ts'
import type { FakeUpstream, Script, Seen } from '../../builders/upstream.ts'

/* Channels of clouds, from their config to the bytes that arrive. */

const { openUpstream, openGateway } = opener()
const dir = mkdtempSync(join(tmpdir(), 'clouds-'))
afterAll(() => rmSync(dir, { recursive: true }))

const ACCESS = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const CLAUDE = 'claude-sonnet-4-5@20250929'

const CHAT = {
  ...{ id: 'a', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 1, output_tokens: 1 },
}
const CONTENT = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

/** Answers in the format of the path. */
const answering: Script = (response, { url }) => {
  response.setHeader('content-type', 'application/json')
  if (/count-tokens|count_tokens/.test(url)) return response.end('{"input_tokens":7}')
  const body = /anthropic/.test(url) ? MESSAGE : /google/.test(url) ? CONTENT : CHAT
  return response.end(JSON.stringify(body))
}

/** A token server that issues numbered tokens. */
const issuing = (lifetime = 3600): Script => {
  let count = 0
  return response => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: `cloud-token-${++count}`, expires_in: lifetime }))
  }
}

/** A gateway with one channel, whose fields are YAML. */
async function cloud(fields: string, { script = answering, env = {} }: { script?: Script; env?: object } = {}) {
  const upstream = await openUpstream(script)
  const text = `channels: [{ name: c, base_url: "${upstream.address}", models: ["*"], ${fields} }]`
  const { channels } = readConfig(text, env as { [name: string]: string })
  const testServer = await openGateway(channels)
  // The list of models is asked for when a gateway starts.
  const arrived = (): Seen => upstream.seen.findLast(({ method }) => method === 'POST')!
  const ask = async (model: string, body: object = {}) => {
    const request = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...body }
    const answer = await testServer.ask('/v1/messages', request, { headers: VERSION })
    return { ...answer, arrived: arrived() }
  }
  return { upstream, testServer, ask }
}

const secretOf = (access: string): string | undefined => (access === ACCESS ? SECRET : undefined)

describe('Amazon Bedrock', () => {
  const KEYS = `auth: { type: aws-keys, access_key_id: ${ACCESS}, secret_access_key: "${SECRET}" }, region: eu-west-1`

  test('gets requests that are signed for its service and region, Claude in messages and others in chat', async () => {
    const { ask } = await cloud(`provider: bedrock, ${KEYS}`)
    const claude = await ask('anthropic.claude-opus-4-8')
    expect(claude.status).toBe(200)
    expect(claude.arrived.url).toBe('/anthropic/v1/messages')
    expect(claude.arrived.headers.authorization).toContain('/eu-west-1/bedrock/aws4_request')
    expect(signatureFault(claude.arrived, secretOf)).toBeUndefined()
    const other = await ask('openai.gpt-oss-120b')
    expect(other.arrived.url).toBe('/openai/v1/responses')
    expect(signatureFault(other.arrived, secretOf)).toBeUndefined()
  })

  test('gets its API key as a bearer, from the usual variable', async () => {
    const env = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key-1', AWS_REGION: 'us-east-1' }
    const { ask } = await cloud('provider: bedrock-mantle', { env })
    expect((await ask('anthropic.claude-opus-4-8')).arrived.headers.authorization).toBe('Bearer bedrock-api-key-1')
  })

  test('is signed for another service at Bedrock Mantle and at Claude on AWS, with the workspace', async () => {
    const mantle = await cloud(`provider: bedrock-mantle, ${KEYS}`)
    expect((await mantle.ask('claude')).arrived.headers.authorization).toContain('/bedrock-mantle/aws4_request')
    const direct = await cloud(`provider: claude-aws, workspace: wrkspc_1, ${KEYS}`)
    const { arrived } = await direct.ask('claude-opus-4-8')
    expect(arrived.headers.authorization).toContain('/aws-external-anthropic/aws4_request')
    expect(arrived.headers['anthropic-workspace-id']).toBe('wrkspc_1')
    expect(arrived.url).toBe('/v1/messages')
    expect(signatureFault(arrived, secretOf)).toBeUndefined()
  })

  test('gets a streamed request signed as well, and a wrong signature is the account’s fault', async () => {
    const refusing: Script = response => {
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(`{"message":"The request signature we calculated does not match ${SECRET}."}`)
    }
    const { ask, testServer } = await cloud(`provider: bedrock, ${KEYS}`, { script: refusing })
    const { status, text, arrived } = await ask('anthropic.claude-opus-4-8', { stream: true })
    expect(status).toBe(503)
    expect(text).not.toContain('signature')
    expect(signatureFault(arrived, secretOf)).toBeUndefined()
    const line = testServer.lines.find(({ message }) => message === 'a channel failed')!
    expect(String(line.fields['said'])).toContain('The request signature we calculated does not match')
    expect(JSON.stringify(testServer.lines)).not.toContain(SECRET)
  })
})

describe('Google Cloud', () => {
  const keyFile = (tokenUrl: string): string => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const file = join(dir, 'account.json')
    const account = {
      ...{ type: 'service_account', client_email: 'g@p.iam.gserviceaccount.com', token_uri: `${tokenUrl}/token` },
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    }
    writeFileSync(file, JSON.stringify(account))
    return file
  }
  const signedIn = async (provider: string, lifetime?: number) => {
    const tokens = await openUpstream(issuing(lifetime))
    const auth = `auth: { type: google-service-account, file: "${keyFile(tokens.address)}" }`
    return { tokens, ...(await cloud(`provider: ${provider}, ${auth}, project: p-1, region: europe-west4`)) }
  }

  test('gets Claude’s requests with the model in the path and the version in the body', async () => {
    const { ask } = await signedIn('vertex-claude')
    const { status, arrived } = await ask(CLAUDE)
    expect(status).toBe(200)
    expect(arrived.url).toBe(
      '/projects/p-1/locations/europe-west4/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict',
    )
    expect(arrived.headers.authorization).toBe('Bearer cloud-token-1')
    expect(arrived.headers['anthropic-version']).toBeUndefined()
    const body = JSON.parse(arrived.text)
    expect(body.anthropic_version).toBe('vertex-2023-10-16')
    expect('model' in body).toBe(false)
  })

  test('gets Claude’s streams and counts at their own paths', async () => {
    const { ask, testServer, upstream } = await signedIn('vertex-claude')
    await ask(`${CLAUDE};x`, { stream: true })
    expect(upstream.seen.at(-1)!.url).toMatch(/models\/claude-sonnet-4-5%4020250929%3Bx:streamRawPredict$/)
    expect(JSON.parse(upstream.seen.at(-1)!.text).stream).toBe(true)
    const counted = { model: CLAUDE, messages: [{ role: 'user', content: 'Hi' }] }
    const count = await testServer.ask('/v1/messages/count_tokens', counted, { headers: VERSION })
    expect(count.json.input_tokens).toBe(7)
    expect(upstream.seen.at(-1)!.url).toMatch(/publishers\/anthropic\/models\/count-tokens:rawPredict$/)
    expect(JSON.parse(upstream.seen.at(-1)!.text).model).toBe(CLAUDE)
  })

  test('gets Gemini’s requests below the project and region', async () => {
    const { ask } = await signedIn('vertex')
    const { status, arrived } = await ask('gemini-3-pro')
    expect(status).toBe(200)
    expect(arrived.url).toBe(
      '/projects/p-1/locations/europe-west4/publishers/google/models/gemini-3-pro:generateContent',
    )
  })

  test('gets one token for a hundred requests at once', async () => {
    const { ask, tokens } = await signedIn('vertex')
    await Promise.all(Array.from({ length: 100 }, () => ask('gemini-3-pro')))
    expect(tokens.seen.length).toBe(1)
  })

  test('gets a new token after it refused one', async () => {
    const { tokens, upstream, ask } = await signedIn('vertex')
    upstream.script = (response, seen) => {
      if (seen.headers.authorization !== 'Bearer cloud-token-1') return answering(response, seen)
      response.writeHead(401, { 'content-type': 'application/json' })
      return response.end('{"error":{"code":401,"message":"expired","status":"UNAUTHENTICATED"}}')
    }
    expect((await ask('gemini-3-pro')).status).toBe(503)
    expect((await ask('gemini-3-pro')).status).toBe(200)
    expect(tokens.seen.length).toBe(2)
  })

  test('tells callers to retry once after it refused a token, and no more if it refuses the new one', async () => {
    const { upstream, ask, testServer } = await signedIn('vertex')
    upstream.script = response => {
      response.writeHead(401, { 'content-type': 'application/json' })
      return response.end('{"error":{"code":401,"message":"expired","status":"UNAUTHENTICATED"}}')
    }
    const hints = async () => {
      const { headers } = await ask('gemini-3-pro')
      return [headers['retry-after'], headers['x-should-retry']]
    }
    expect([await hints(), await hints()]).toEqual([
      ['1', undefined],
      [undefined, 'false'],
    ])
    const rests = testServer.lines.filter(({ message }) => message === 'a channel failed').map(({ fields }) => fields)
    expect(rests).toMatchObject([
      { kind: 'upstream-account', status: 401, rests: 'model', seconds: 1 },
      { kind: 'unauthenticated', status: 401, rests: 'channel', seconds: 60 },
    ])
  })
})

describe('Azure', () => {
  const signedIn = async (tokens: FakeUpstream, fields: string) => {
    const auth = `auth: { type: azure-client, tenant: t, client_id: app, client_secret: entra-secret-1, authority: "${tokens.address}" }`
    return cloud(`${auth}, ${fields}`)
  }

  test('gets a token of Entra for the scope of the service', async () => {
    const tokens = await openUpstream(issuing())
    const { ask } = await signedIn(tokens, 'provider: azure-foundry, resource: r')
    const { arrived } = await ask('claude-opus-4-8')
    expect(arrived.url).toBe('/anthropic/v1/messages')
    expect(arrived.headers.authorization).toBe('Bearer cloud-token-1')
    expect(new URLSearchParams(tokens.seen[0]!.text).get('scope')).toBe('https://ai.azure.com/.default')
  })

  test('gets the deployment in the path and the version in the query of its older API', async () => {
    const { ask } = await cloud('provider: azure-deployments, resource: r, key: azure-key-1234')
    const { status, arrived } = await ask('my-gpt')
    expect(status).toBe(200)
    expect(arrived.url).toBe('/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21')
    expect(arrived.headers['api-key']).toBe('azure-key-1234')
  })

  /* "Invalid model. The model argument should be left blank" (azure-sdk-for-net#44666; dify-official-plugins#2946 and
     semantic-kernel#13245, read on 2026-12-01). */
  test('gets no name of a deployment in the body of an image, and no setting of DALL·E', async () => {
    const { testServer, upstream } = await cloud('provider: azure-deployments, resource: r, key: azure-key-1234')
    const body = { model: 'my-pictures', prompt: 'a', response_format: 'b64_json', style: 'vivid' }
    await testServer.ask('/v1/images/generations', body)
    const arrived = upstream.seen.findLast(({ method }) => method === 'POST')!
    expect(arrived.url).toBe('/openai/deployments/my-pictures/images/generations?api-version=2024-10-21')
    expect(JSON.parse(arrived.text)).toEqual({ prompt: 'a' })
  })

  test('that refuses the sign-in fails with a cause in the log, and without it for the caller', async () => {
    const tokens = await openUpstream(response => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(
        '{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret entra-secret-1."}',
      )
    })
    const { ask, testServer } = await signedIn(tokens, 'provider: azure-foundry, resource: r')
    const { status, text } = await ask('claude-opus-4-8')
    expect(status).toBe(503)
    expect(text).not.toMatch(/AADSTS|Entra/)
    const line = testServer.lines.find(({ message }) => message === 'a channel failed')!
    expect(line.fields['said']).toMatch(/^Microsoft Entra answered 401: invalid_client: AADSTS7000215/)
    expect(JSON.stringify(testServer.lines)).not.toContain('entra-secret-1')
  })

  test.each([
    ['is overloaded', 503, {}, 5],
    ['limits its requests', 429, { 'retry-after': '2' }, 2],
    ['is being updated', 410, {}, 5],
    ['breaks the connection', 0, {}, 5],
  ] as const)('lets callers retry soon if the token server %s', async (_, code, headers, seconds) => {
    const tokens = await openUpstream(response => {
      if (code === 0) response.destroy()
      else response.writeHead(code, headers).end('<html>')
    })
    const { ask, testServer } = await signedIn(tokens, 'provider: azure-foundry, resource: r')
    const { status, headers: answered } = await ask('claude-opus-4-8')
    expect([status, answered['retry-after'], answered['x-should-retry']]).toEqual([503, String(seconds), undefined])
    const line = testServer.lines.find(({ message }) => message === 'a channel failed')!
    expect(line.fields).toMatchObject({ kind: 'upstream-account', rests: 'model', seconds })
  })

  test('tells callers not to retry if the token server refuses the account', async () => {
    const tokens = await openUpstream(response => response.writeHead(400).end('{"error":"invalid_client"}'))
    const { ask } = await signedIn(tokens, 'provider: azure-foundry, resource: r')
    const { headers } = await ask('claude-opus-4-8')
    expect([headers['retry-after'], headers['x-should-retry']]).toEqual([undefined, 'false'])
  })
})

describe('a change of the config', () => {
  const ENTRA = 'tenant: t, client_id: app, client_secret: s'
  const configAt = (server: string, fields: string) => {
    const auth = `auth: { type: azure-client, ${ENTRA}, authority: "${server}" }`
    const channel = `{ name: c, provider: azure-foundry, resource: r, models: ["*"], ${auth}, ${fields} }`
    return readConfig(`channels: [${channel}]`, {}).channels[0]!
  }
  const tokenOf = (channel: Channel) =>
    channel.endpoint(channel.config.formats[0]!, { path: '/', query: {} }).credential

  test('keeps the token of an account, which its server may not renew at the moment', async () => {
    let isDown = false
    const issue = issuing()
    const server = await openUpstream((response, seen) =>
      isDown ? response.writeHead(503).end() : issue(response, seen),
    )
    const before = new Channel(configAt(server.address, 'priority: 1'))
    await before.ready()
    isDown = true
    const after = new Channel(configAt(server.address, 'priority: 2'), before)
    await after.ready()
    expect(tokenOf(after)).toBe('cloud-token-1')
  })

  test('gets a new token for another account', async () => {
    const server = await openUpstream(issuing())
    const before = new Channel(configAt(server.address, 'priority: 1'))
    await before.ready()
    const config = configAt(server.address, 'priority: 1')
    const after = new Channel({ ...config, auth: { ...config.auth!, clientId: 'other' } as never }, before)
    await after.ready()
    expect(tokenOf(after)).toBe('cloud-token-2')
  })
})
