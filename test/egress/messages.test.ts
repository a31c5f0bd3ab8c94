import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { refusableLosses } from '../../src/egress/losses.ts'
import { messages as writer } from '../../src/egress/messages/index.ts'
import { argumentSchema, strictSchema } from '../../src/egress/sanitize/closed-schema.ts'
import { REQUEST } from '../builders/requests.ts'
import { result } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { whole } from '../traps/messages.ts'

// biome-ignore lint/suspicious/noExplicitAny: the test reads the wire value by hand.
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): any =>
  writer.request!({ ...REQUEST, ...more }, { ...FOREIGN, dialect }).wire.body
describe('dialects', () => {
  it('choose how thinking is requested', () => {
    const reasoning = { effort: 'low' } as const
    expect(body({ reasoning })).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } })
    const budget = body({ reasoning }, { thinking: 'budget' })
    expect(budget).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2048 } })
    expect(budget).not.toHaveProperty('output_config')
    expect(body({ reasoning }, { thinking: 'none' })).not.toHaveProperty('thinking')
  })

  it('leave out sampling parameters that the upstream refuses', () => {
    const sampling = { temperature: 0.5, topP: 0.5, topK: 5, stop: ['a'] }
    expect(body({ sampling })).toMatchObject({ temperature: 0.5, top_p: 0.5, top_k: 5 })
    const either = body({ sampling }, { sampling: 'one' })
    expect(either).toMatchObject({ temperature: 0.5, top_k: 5 })
    expect(either).not.toHaveProperty('top_p')
    for (const dialect of [{ sampling: 'none' }, { version: '2026-10-21' }]) {
      const written = body({ sampling }, dialect)
      expect(written).toMatchObject({ stop_sequences: ['a'] })
      for (const field of ['temperature', 'top_p', 'top_k']) expect(written).not.toHaveProperty(field)
    }
  })
})

describe('a limit that the caller did not set', () => {
  const added = (dialect: JsonObject, more: Partial<CanonicalRequest> = {}) => {
    const { wire, losses } = writer.request!({ ...REQUEST, ...more }, { ...FOREIGN, dialect })
    const about = losses.filter(({ path }) => path.join('/') === 'sampling/maxTokens')
    return [wire.body['max_tokens'], about.map(({ reason }) => reason), refusableLosses(about).length > 0]
  }

  it('is no loss at the longest answer of the model, and is one if it may cut an answer short', () => {
    const whole = ['most-the-model-answers']
    const cut = ['limit-required']
    expect(added({ max_output: 64_000 })).toEqual([64_000, whole, false])
    expect(added({ listed_output: 8192 })).toEqual([8192, whole, false])
    expect(added({ max_output: 64_000, listed_output: 8192 })).toEqual([64_000, whole, false])
    expect(added({ max_output: 64_000, max_tokens: 90_000 })).toEqual([64_000, whole, false])
    expect(added({ listed_output: 8192, max_tokens: 9000 })).toEqual([9000, whole, false])
    expect(added({})).toEqual([32_000, cut, true])
    expect(added({ max_tokens: 9000 })).toEqual([9000, cut, true])
    expect(added({ max_output: 64_000, max_tokens: 9000 })).toEqual([9000, cut, true])
    expect(added({ listed_output: 8192, max_tokens: 500 })).toEqual([500, cut, true])
  })

  it('is no loss either for a greater limit that is lowered to the longest answer', () => {
    const sampling = { maxTokens: 100_000 }
    expect(added({ max_output: 64_000 }, { sampling })).toEqual([64_000, ['most-the-model-answers'], false])
    expect(added({ listed_output: 64_000 }, { sampling })).toEqual([100_000, [], false])
  })
})

describe('schemas', () => {
  it('closes objects and drops keywords that are not enforced, but no property names', () => {
    const schema = {
      type: 'object',
      properties: {
        maxLength: { type: 'string', maxLength: 3 },
        list: { type: 'array', items: { type: 'object' }, minItems: 2 },
      },
      oneOf: [{ minimum: 1 }],
    }
    expect(strictSchema(schema)).toEqual({
      type: 'object',
      properties: {
        maxLength: { type: 'string' },
        list: { type: 'array', items: { type: 'object', additionalProperties: false } },
      },
      anyOf: [{}],
      additionalProperties: false,
    })
  })

  it('keeps only the string formats that are enforced, because any other is refused', () => {
    const formatted = (type: Json, format: string): JsonObject => strictSchema({ type, format })
    expect(formatted('string', 'date-time')).toEqual({ type: 'string', format: 'date-time' })
    expect(formatted(['string', 'null'], 'uuid')).toEqual({ type: ['string', 'null'], format: 'uuid' })
    // Google's formats of numbers and enums, and the formats that schema libraries write for files and tokens.
    for (const [type, format] of [
      ['number', 'double'],
      ['integer', 'int32'],
      ['string', 'enum'],
      ['string', 'binary'],
    ] as const)
      expect(formatted(type, format)).toEqual({ type })
    expect(strictSchema({ type: 'object', properties: { format: { type: 'string' } } })).toMatchObject({
      properties: { format: { type: 'string' } },
    })
  })

  it('turns the arguments of a tool into an object without a union at the top', () => {
    expect(argumentSchema({ anyOf: [{ type: 'object' }], description: 'd' })).toEqual({
      type: 'object',
      description: 'd',
    })
    expect(body({ tools: [{ type: 'function', name: 'f' }] }).tools).toEqual([
      { name: 'f', input_schema: { type: 'object' } },
    ])
  })
})

describe('answers', () => {
  it('trap 87: have the fields of recorded answers, and null only where recorded answers have null', () => {
    const call: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' }
    expect(whole(result([{ type: 'text', text: 'a' }, call]))).toEqual({
      ...{ id: 'r1', type: 'message', role: 'assistant', model: 'm' },
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 }, caller: { type: 'direct' } },
      ],
      ...{ stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
      usage: {
        ...{ input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
      },
    })
  })

  it('trap 87: have the same fields in a stream', () => {
    const events = drain(writer.events!(REQUEST), unfold(result([{ type: 'text', text: 'a' }]))).map(({ data }) => data)
    const said = events.map(data => JSON.parse(data)).filter(({ type }) => type !== 'content_block_delta')
    const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
    expect(said).toEqual([
      {
        type: 'message_start',
        message: {
          ...{ id: 'r1', type: 'message', role: 'assistant', model: 'm', content: [] },
          ...{ stop_reason: null, stop_sequence: null, usage },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ])
  })

  it('state a final refusal as the stop reason; a refusal inside an answer is text', () => {
    const refusal: Part = { type: 'refusal', text: 'No.' }
    expect(whole(result([refusal]))).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    })
    const answer = result([refusal, { type: 'text', text: 'But this.' }])
    expect(whole(answer)).toMatchObject({ content: [{ text: 'No.' }, { text: 'But this.' }], stop_details: null })
    const events = drain(writer.events!(REQUEST), unfold(answer)).map(({ event }) => event)
    expect(events.filter(event => event === 'content_block_start')).toHaveLength(2)
  })

  it('have no block for an empty text', () => {
    const answer = result([
      { type: 'text', text: '' },
      { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
    ])
    expect(whole(answer).content).toHaveLength(1)
    const events = drain(writer.events!(REQUEST), unfold(answer))
    expect(events.filter(({ event }) => event === 'content_block_start')).toHaveLength(1)
  })

  it('keep malformed arguments as text', () => {
    const call: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":' }
    expect(whole(result([call])).content[0].input).toBe('{"x":')
    const history: CanonicalRequest['messages'] = [...REQUEST.messages, { role: 'assistant', content: [call] }]
    expect(body({ messages: history }).messages[1].content[0].input).toEqual({ INVALID_JSON: '{"x":' })
  })
})
