import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { wrapReasoning } from '../../src/canonical/signature.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

const HI = [{ role: 'user', content: 'Hi.' }]

const read = (format: string, path: string, body: JsonObject): CanonicalRequest =>
  READERS[format]!.request!({ path, query: {}, headers: {}, body })

const written = (format: string, request: CanonicalRequest): JsonObject =>
  WRITERS[format]!.request!(request, { dialect: {}, native: true }).wire.body

describe('a native request that was changed after reading is written with the change', () => {
  test.each([
    ['chat', '/chat/completions', { messages: HI }],
    ['completions', '/completions', { prompt: 'Hi.' }],
  ])('%s: a stream that became none has no options of one', (format, path, body) => {
    const request = read(format, path, { ...body, model: 'm', stream: true, stream_options: { include_usage: true } })
    expect(written(format, { ...request, stream: false })).toEqual({ ...body, model: 'm', stream: false })
  })

  test.each([
    ['chat', '/chat/completions', { messages: HI }],
    ['messages', '/v1/messages', { max_tokens: 9, messages: HI }],
    ['contents', '/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }],
    ['responses', '/responses', { input: [{ role: 'user', content: 'Hi.' }] }],
    ['embeddings', '/embeddings', { input: ['Hi.', 'Ho.'] }],
    ['completions', '/completions', { prompt: ['Hi.', 'Ho.'] }],
    ['rerank', '/rerank', { query: 'q', documents: ['Hi.', 'Ho.'] }],
    ['cohere', '/v2/embed', { texts: ['Hi.', 'Ho.'] }],
  ])('%s: content of a message, and fewer messages', (format, path, body) => {
    const request = read(format, path, { model: 'm', ...body })
    const [first, ...others] = request.messages
    const content = [{ type: 'text', text: 'Changed.' }] as const
    const changed = JSON.stringify(written(format, { ...request, messages: [{ ...first!, content }, ...others] }))
    expect(changed).toContain('Changed.')
    expect(changed).not.toContain('Hi.')
    if (others.length > 0)
      expect(JSON.stringify(written(format, { ...request, messages: [first!] }))).not.toContain('Ho.')
  })

  test('messages: a turn with only reasoning of another upstream is not sent', () => {
    const signature = wrapReasoning([{ text: 'Thought elsewhere.' }], 'messages')
    const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: 'Thought elsewhere.', signature }] }
    const messages = [...HI, thought, { role: 'user', content: 'Go on.' }]
    const request = read('messages', '/v1/messages', { model: 'm', max_tokens: 9, messages })
    expect(written('messages', request)['messages']).toEqual([...HI, { role: 'user', content: 'Go on.' }])
  })

  test('responses: fewer messages', () => {
    const input = [...HI, { role: 'user', content: 'Ho.' }]
    const request = read('responses', '/responses', { model: 'm', input })
    const { input: sent } = written('responses', { ...request, messages: request.messages.slice(0, 1) })
    expect(sent).toEqual(HI)
  })
})
