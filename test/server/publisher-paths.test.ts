import { describe, expect, test } from 'vitest'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'

/* Clients of Google Cloud: Claude Code and the publisher's SDK with Vertex, google-genai with `vertexai`. */

const { open } = opener()

const CHAT: Script = (response, { text }) => {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  if (JSON.parse(text).stream === true) {
    response.setHeader('content-type', 'text/event-stream')
    return response.end(`${chunk({ role: 'assistant', content: 'Hello.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
  }
  response.setHeader('content-type', 'application/json')
  const message = { role: 'assistant', content: 'Hello.' }
  return response.end(
    JSON.stringify({
      id: 'a',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }),
  )
}

const CLAUDE = { anthropic_version: 'vertex-2023-10-16', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
const PREFIXES = ['', '/v1', '/v1beta1', '/v1/projects/p/locations/global', '/projects/my-project/locations/eu'].map(
  prefix => `${prefix}/publishers`,
)

describe('paths of Google Cloud', () => {
  test.each(PREFIXES)('%s answer clients of Claude, whole and streamed', async prefix => {
    const { testServer, upstream } = await open(CHAT)
    const whole = await testServer.ask(`${prefix}/anthropic/models/m:rawPredict`, CLAUDE)
    expect(whole.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello.' }] })
    const streamed = await testServer.ask(`${prefix}/anthropic/models/m:streamRawPredict`, CLAUDE)
    expect(streamed.headers['content-type']).toContain('text/event-stream')
    expect(streamed.text).toContain('event: message_stop')
    expect(upstream.seen.map(({ text }) => JSON.parse(text).model)).toEqual(['m', 'm'])
  })

  test.each(PREFIXES)('%s answer clients of Gemini', async prefix => {
    const { testServer } = await open(CHAT)
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const whole = await testServer.ask(`${prefix}/google/models/m:generateContent`, body)
    expect(whole.json.candidates[0].content.parts).toEqual([{ text: 'Hello.' }])
    const streamed = await testServer.ask(`${prefix}/google/models/m:streamGenerateContent?alt=sse`, body)
    expect(streamed.text).toMatch(/^data: \{/)
  })

  test('pass version, beta features and unknown fields to an upstream of messages', async () => {
    const { testServer, upstream } = await open(
      response => {
        response.setHeader('content-type', 'application/json')
        response.end(
          '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}',
        )
      },
      {},
      { format: 'messages', dialect: { version: 'caller' } },
    )
    await testServer.ask('/publishers/anthropic/models/m:rawPredict', {
      ...{ ...CLAUDE, anthropic_version: '2026-10-21', anthropic_beta: ['a-1', 'b-2'], future: { field: 1 } },
    })
    const [{ headers, text }] = upstream.seen as [(typeof upstream.seen)[0]]
    expect(headers['anthropic-version']).toBe('2026-10-21')
    expect(headers['anthropic-beta']).toBe('a-1,b-2')
    const body = JSON.parse(text)
    expect(body).toMatchObject({ model: 'm', future: { field: 1 } })
    expect(Object.keys(body).filter(name => name.startsWith('anthropic'))).toEqual([])
  })

  test('count tokens of the model that the body names', async () => {
    const { testServer } = await open(CHAT)
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello there' }] }
    const { json } = await testServer.ask('/publishers/anthropic/models/count-tokens:rawPredict', body)
    expect(json.input_tokens).toBeGreaterThan(0)
  })

  test.each([
    ['/publishers/anthropic/models/m:predict', 404, 'error'],
    ['/publishers/google/models/m:computeTokens', 404, 'status'],
    ['/publishers/other/models/m:rawPredict', 404, 'error'],
    ['/publishers/anthropic/models/..%2F..:rawPredict', 400, 'error'],
  ])('%s is refused with %i in the format of its clients', async (path, status, field) => {
    const { testServer } = await open(CHAT)
    const { status: got, text } = await testServer.ask(path, CLAUDE)
    expect(got).toBe(status)
    expect(text).toContain(`"${field}"`)
  })

  test('do not let a key reach a model that it may not use', async () => {
    const { testServer, upstream } = await open(CHAT, { group: { models: ['other'] } })
    const { status } = await testServer.ask('/publishers/anthropic/models/m:rawPredict', { ...CLAUDE, model: 'other' })
    expect(status).toBe(403)
    expect(upstream.seen).toEqual([])
  })
})
