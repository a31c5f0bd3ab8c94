import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { refusableLosses } from '../../../src/egress/losses.ts'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const system = (text: string): Message => ({ role: 'system', content: [{ type: 'text', text }] })
const asks = (
  messages: readonly Message[],
  text: NonNullable<CanonicalRequest['output']['text']>,
): CanonicalRequest => ({
  ...{ model: 'm', messages, output: { text }, sampling: {}, stream: false },
})
const written = (format: string, request: CanonicalRequest, dialect: JsonObject = {}) => {
  const { wire, losses } = WRITERS[format]!.request!(request, { dialect, native: false })
  return { texts: JSON.stringify(wire.body[format === 'chat' ? 'messages' : 'input']), body: wire.body, losses }
}

describe('JSON without a schema', () => {
  it.each(['chat', 'responses'])('is asked for in words, without which OpenAI refuses it: %s', format => {
    for (const messages of [[user('Hi')], [system('Be nice.'), user('Hi')]]) {
      const { texts, losses } = written(format, asks(messages, { shape: 'json' }))
      expect(texts).toMatch(/json/i)
      expect(texts).toContain('Hi')
      expect(losses.map(({ kind, reason }) => `${kind} ${reason}`)).toContain('inserted json-asked-for-in-words')
      expect(refusableLosses(losses)).toEqual([])
    }
  })

  it('is not asked for twice', () => {
    const { texts } = written('chat', asks([user('As JSON, please.')], { shape: 'json' }))
    expect(JSON.parse(texts)).toEqual([{ role: 'user', content: 'As JSON, please.' }])
  })

  it('is asked for in the input of Responses, because the word does not count in its instructions', () => {
    const { texts } = written('responses', asks([system('Write JSON.'), user('Hi')], { shape: 'json' }))
    expect(texts).toMatch(/json/i)
  })

  it('has the schema in words where the upstream takes none', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const request = asks([system('Be nice.'), user('Hi')], { shape: 'schema', schema })
    const { texts, body } = written('chat', request, { json_schema: false, text_only_content: 'string' })
    expect(body['response_format']).toEqual({ type: 'json_object' })
    expect(JSON.parse(texts)[0].content).toContain(JSON.stringify(schema))
    expect(written('chat', request).texts).not.toContain('properties')
  })
})
