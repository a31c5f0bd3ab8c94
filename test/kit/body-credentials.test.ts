import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credentialsInText } from '../../src/kit/body-credentials.ts'
import { writeRecording } from '../../src/kit/recordings/file.ts'
import { Library } from '../../src/kit/recordings/library.ts'
import { type ArrivedSession, Recorder, recordingOf } from '../../src/kit/recordings/recorder.ts'
import type { Recording } from '../../src/kit/recordings/recording.ts'

/*
 * No recording has a credential that a body gives to the upstream for another service, such as an MCP server, or that
 * an answer hands out.
 */

const folder = mkdtempSync(join(tmpdir(), 'body-credentials-'))

/** Opaque credentials, which no pattern recognises. */
const credential = fc.stringMatching(/^[A-Za-z0-9+/._~-]{11,40}7$/)

type Placed = (credential: string) => object

const mcpOfGemini = (key: string) => ({
  mcpServers: [{ name: 'a', streamableHttpTransport: { headers: { 'x-key': key } } }],
})

/** Bodies with a credential, by endpoint. */
const PLACES: readonly (readonly [url: string, name: string, body: Placed])[] = [
  ['/v1/responses', 'authorization of MCP', authorization => ({ tools: [{ type: 'mcp', authorization }] })],
  ['/v1/responses', 'header of MCP', key => ({ tools: [{ type: 'mcp', headers: { 'X-Api-Key': key } }] })],
  [
    '/v1/responses',
    'bearer of MCP',
    key => ({ tools: [{ type: 'mcp', headers: { Authorization: `Bearer ${key}` } }] }),
  ],
  [
    '/v1/responses',
    'parameter of MCP',
    key => ({ tools: [{ type: 'mcp', server_url: `https://a.example/mcp?api_key=${encodeURIComponent(key)}` }] }),
  ],
  [
    '/v1/responses',
    'password of MCP',
    key => ({ tools: [{ type: 'mcp', server_url: `https://u:${encodeURIComponent(key)}@a.example/mcp` }] }),
  ],
  [
    '/v1/responses',
    'secret of a container',
    value => ({
      tools: [
        {
          type: 'shell',
          environment: { network_policy: { domain_secrets: [{ domain: 'a.example', name: 'KEY', value }] } },
        },
      ],
    }),
  ],
  [
    '/v1/messages',
    'token of MCP',
    authorization_token => ({
      mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a', authorization_token }],
    }),
  ],
  [
    '/v1beta/models/m:generateContent',
    'header of MCP',
    key => ({ tools: [{ mcpServers: [{ name: 'a', streamableHttpTransport: { headers: { 'x-key': key } } }] }] }),
  ],
  [
    '/v1beta/interactions',
    'header of MCP',
    key => ({ tools: [{ type: 'mcp_server', name: 'a', url: 'https://a.example', headers: { token: key } }] }),
  ],
  [
    '/v1/chat/completions',
    'key of a data source',
    key => ({ data_sources: [{ type: 'azure_search', parameters: { authentication: { type: 'api_key', key } } }] }),
  ],
  ['/v1/chat/completions', 'key of the upstream', api_key => ({ api_key })],
]

/** Bodies with a credential that no frame has. */
const OTHER_PLACES: typeof PLACES = [
  ...['api_key', 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'azure_ad_token'].map(
    field => ['/v1/chat/completions', `${field} for LiteLLM`, (key: string) => ({ [field]: key })] as const,
  ),
  [
    '/v1/chat/completions',
    'account for LiteLLM',
    key => ({ vertex_credentials: JSON.stringify({ private_key: key }) }),
  ],
  ['/v1/chat/completions', 'header for LiteLLM', key => ({ extra_headers: { Authorization: `Bearer ${key}` } })],
  ['/v1/chat/completions', 'fallback of LiteLLM', api_key => ({ fallbacks: [{ model: 'm', api_key }] })],
  [
    '/v1/chat/completions',
    'config for LiteLLM',
    key => ({ user_config: { model_list: [{ litellm_params: { model: 'm', aws_secret_access_key: key } }] } }),
  ],
  ['/v1alpha/auth_tokens', 'header of MCP', key => ({ bidiGenerateContentSetup: { tools: [mcpOfGemini(key)] } })],
  [
    '/v1beta/models/m:countTokens',
    'header of MCP',
    key => ({ generateContentRequest: { contents: [], tools: [mcpOfGemini(key)] } }),
  ],
  [
    '/v1beta/models/m:batchGenerateContent',
    'header of MCP',
    key => ({ batch: { inputConfig: { requests: { requests: [{ request: { tools: [mcpOfGemini(key)] } }] } } } }),
  ],
  [
    '/v1/messages/batches',
    'token of MCP',
    authorization_token => ({ requests: [{ custom_id: 'a', params: { mcp_servers: [{ authorization_token }] } }] }),
  ],
  [
    '/v1/containers',
    'secret of a container',
    value => ({ name: 'a', network_policy: { domain_secrets: [{ domain: 'a.example', name: 'KEY', value }] } }),
  ],
  [
    '/v1/sessions?beta=true',
    'token of a repository',
    authorization_token => ({ resources: [{ type: 'github_repository', authorization_token }] }),
  ],
  ['/v1/sessions/s/resources/r?beta=true', 'token of a repository', authorization_token => ({ authorization_token })],
  ['/v1/vaults/v/credentials?beta=true', 'token', token => ({ auth: { type: 'static_bearer', token } })],
  [
    '/v1/vaults/v/credentials?beta=true',
    'access token',
    access_token => ({ auth: { type: 'mcp_oauth', access_token } }),
  ],
  [
    '/v1/vaults/v/credentials?beta=true',
    'refresh token',
    refresh_token => ({ auth: { type: 'mcp_oauth', refresh: { refresh_token } } }),
  ],
  [
    '/v1/vaults/v/credentials?beta=true',
    'secret of a client',
    client_secret => ({ auth: { type: 'mcp_oauth', refresh: { token_endpoint_auth: { client_secret } } } }),
  ],
]

interface Written {
  readonly url: string
  /** JSON, or a text. */
  readonly body: object | string
  readonly answer?: object
  readonly session?: ArrivedSession
}

async function written({ url, body, answer = {}, session }: Written): Promise<string> {
  let text: string | undefined
  const recorder = new Recorder({
    folder,
    warn: message => expect.fail(message),
    onWritten: (_, recording) => {
      text = writeRecording(recording)
    },
  })
  const request = {
    ...{ method: session === undefined ? 'POST' : 'GET', url, headers: { 'content-type': 'application/json' } },
    body: Buffer.from(session !== undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)),
  }
  if (session === undefined) recorder.exchange(request, answerOf(answer), new Date())
  else recorder.session(request, session, new Date())
  await recorder.close()
  return text!
}

const answerOf = (json: object) => ({
  ...{ status: 200, headers: { 'content-type': 'application/json' }, ms: 1, isComplete: true },
  chunks: [{ ms: 1, bytes: Buffer.from(JSON.stringify(json)) }],
})

const frame = (from: 'caller' | 'upstream', value: object) => ({
  ...{ ms: 1, from, isBinary: false, bytes: Buffer.from(JSON.stringify(value)) },
})

const prompt = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], input: 'Hello' }

const holds = (text: string, hidden: string): boolean =>
  [hidden, encodeURIComponent(hidden)].some(one => text.includes(one))

describe.each([...PLACES, ...OTHER_PLACES])('%s: %s', (url, _, place) => {
  test('in a request, and repeated by its answer', async () => {
    await fc.assert(
      fc.asyncProperty(credential, async hidden => {
        const body = { ...prompt, ...place(hidden) }
        const answer = { ...place(hidden), error: { message: `The server refused ${hidden}.` } }
        const text = await written({ url, body, answer })
        expect(holds(text, hidden)).toBe(false)
        expect(text).toContain('Hello')
        expect(text).toContain('The server refused [redacted].')
      }),
      { numRuns: 20 },
    )
  })

  test('in a body that its client failed to write', async () => {
    await fc.assert(
      fc.asyncProperty(
        credential,
        fc.constantFrom<(text: string) => string>(
          text => text.slice(0, -1),
          text => `${text.slice(0, -1)},}`,
          text => `[${text}]`,
        ),
        async (hidden, broken) => {
          const body = broken(JSON.stringify({ ...prompt, ...place(hidden) }))
          const text = await written({ url, body, answer: { error: { message: `Not JSON near ${hidden}.` } } })
          expect(holds(text, hidden)).toBe(false)
          expect(text).toContain('Hello')
        },
      ),
      { numRuns: 20 },
    )
  })

  test.runIf(PLACES.some(one => one[2] === place))('in the frames of a session', async () => {
    await fc.assert(
      fc.asyncProperty(
        credential,
        fc.constantFrom('session', 'response', 'setup', undefined),
        async (hidden, owner) => {
          const body = place(hidden)
          const inside = owner === undefined ? body : { [owner]: body }
          const frames = [
            frame('caller', { type: 'session.update', ...inside }),
            frame('upstream', { type: 'session.updated', ...inside, note: `${hidden} is used.` }),
          ]
          const text = await written({ url: '/v1/realtime?model=m', body: {}, session: { frames } })
          expect(holds(text, hidden)).toBe(false)
          expect(text).toContain('[redacted] is used.')
        },
      ),
      { numRuns: 10 },
    )
  })

  test('does not count when requests are compared', async () => {
    const requestWith = (hidden: string) => ({
      ...{ method: 'POST', url, headers: { 'content-type': 'application/json' } },
      body: Buffer.from(JSON.stringify({ ...prompt, ...place(hidden) })),
    })
    const recording = await recordingOf(requestWith('first-credential-1'), answerOf({}), new Date(0))
    // Earlier versions recorded the credential.
    const request = { ...recording.request, body: { json: { ...prompt, ...place('first-credential-1') } } }
    for (const one of [recording, { ...recording, request }] as Recording[]) {
      const library = new Library([{ file: 'a.json', recording: one }])
      const found = await library.find(requestWith('second-credential-2'), { format: undefined, streams: false })
      expect(found).toMatchObject({ file: 'a.json', answer: {} })
    }
  })
})

test('client secrets and tokens that an answer hands out', async () => {
  const hidden = 'ek_68af296e8e408191a1120ab6383263c2'
  for (const [url, answer] of [
    ['/v1/realtime/client_secrets', { value: hidden, expires_at: 1, session: { model: 'm' } }],
    ['/v1/realtime/sessions', { id: 's', client_secret: { value: hidden, expires_at: 1 } }],
    ['/v1alpha/auth_tokens', { name: hidden }],
  ] as const) {
    const text = await written({ url, body: { session: { model: 'm' } }, answer })
    expect(text).not.toContain(hidden)
    expect(text).toContain('[redacted]')
  }
})

test('what only looks similar stays', async () => {
  const tool = {
    type: 'function',
    name: 'sign_in',
    parameters: {
      type: 'object',
      properties: { authorization: { type: 'string' }, headers: { const: 'as-stated-1' } },
    },
  }
  const body = {
    ...{ model: 'm', tools: [tool, { type: 'mcp', server_url: 'https://a.example/mcp?page=second-page' }] },
    input: [
      { type: 'function_call', call_id: 'c', name: 'sign_in', arguments: '{"authorization":"argument-1234"}' },
      { type: 'function_call_output', call_id: 'c', output: '{"api_key":"output-12345"}' },
    ],
  }
  const answer = { output: [{ type: 'message', content: [{ type: 'output_text', text: 'value: text-123456' }] }] }
  const text = await written({ url: '/v1/responses', body, answer })
  for (const kept of ['as-stated-1', 'second-page', 'argument-1234', 'output-12345', 'text-123456'])
    expect(text).toContain(kept)
  expect(text).not.toContain('[redacted]')
})

test('a search for credentials in a body of any form takes linear time', () => {
  for (const piece of ['"', "'", '\\', '\\"', '{"headers":', '"a" ', '[', '}', '"headers":{"a":"'])
    credentialsInText(`api_key ${piece.repeat(300_000)}`)
})
