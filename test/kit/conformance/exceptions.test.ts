import { describe, expect, test } from 'vitest'
import { CONVERSATIONS } from '../../../src/kit/conformance/formats/index.ts'
import type { JsonObject } from '../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'

/* Values with which the publishers test their own SDKs are valid, even if the published schemas refuse them. */

const eventFaults = (format: string, event: JsonObject): readonly string[] => {
  const { schemas, exceptions } = CONVERSATIONS[format]!
  return schemaFaults(format, schemas.event, event, exceptions)
}

test('a message may begin without counts of a cache', () => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm' }
  const usage = { input_tokens: 3, output_tokens: 1 }
  const start = (more: JsonObject): JsonObject => ({
    type: 'message_start',
    message: { ...message, stop_reason: null, stop_sequence: null, ...more },
  })
  expect(eventFaults('messages', start({ usage }))).toEqual([])
  expect(eventFaults('messages', start({ usage: { output_tokens: 1 } }))).not.toEqual([])
})

test('requests of messages may have output_format, the name of a beta for output_config.format', () => {
  const { schemas, exceptions } = CONVERSATIONS['messages']!
  const faults = (more: JsonObject): readonly string[] => {
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'a' }], ...more }
    return schemaFaults('messages', schemas.request, body, exceptions)
  }
  expect(faults({ output_format: { type: 'json_schema', schema: {} } })).toEqual([])
  expect(faults({ output_shape: {} })).not.toEqual([])
})

test('a part of a response may have no log probabilities', () => {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0, sequence_number: 2 }
  const added = (part: JsonObject): JsonObject => ({ type: 'response.content_part.added', ...at, part })
  expect(eventFaults('responses', added({ type: 'output_text', text: '', annotations: [] }))).toEqual([])
  expect(eventFaults('responses', added({ type: 'output_text', annotations: [] }))).not.toEqual([])
})

describe('Google’s service', () => {
  const { grammar, lint, rules } = CONVERSATIONS['contents']!
  const musts = new Set(rules.filter(({ level }) => level === 'must').map(({ on, id }) => `${on}.${id}`))
  const broken = (events: readonly JsonObject[]): string[] => {
    const machine = grammar({ body: {} })
    for (const event of events) machine.event({ name: undefined, data: '', start: 0, end: 0 }, event)
    const found = machine.end(true).map(({ rule }) => `stream.${rule}`)
    return found.filter(rule => musts.has(rule))
  }
  const event = (part: JsonObject, total: number, finishReason?: string): JsonObject => ({
    candidates: [
      { content: { role: 'model', parts: [part] }, ...(finishReason === undefined ? {} : { finishReason }) },
    ],
    usageMetadata: { promptTokenCount: total, totalTokenCount: total },
  })
  const CALL = { functionCall: { name: 'f', args: {} } }
  const RESULT = { functionResponse: { name: 'f', response: { a: 1 } } }

  test('goes on after calls that it ran itself, and not otherwise', () => {
    expect(broken([event(CALL, 1, 'STOP'), event(RESULT, 2), event({ text: 'a' }, 3, 'STOP')])).toEqual([])
    expect(broken([event(CALL, 1, 'STOP'), event({ text: 'a' }, 3, 'STOP')])).toEqual(['stream.finish'])
  })

  test('counts fewer tokens at the end than it estimated before', () => {
    expect(broken([event({ text: 'a' }, 101), event({ text: 'b' }, 59, 'STOP')])).toEqual([])
  })

  test('accepts calls without responses, and no response to another call', () => {
    const turn = (role: string, part: JsonObject): JsonObject => ({ role, parts: [part] })
    const asked = turn('user', { text: 'a' })
    const faults = (...contents: readonly JsonObject[]) => lint.request({ contents }, {}).map(({ rule }) => rule)
    expect(faults(asked, turn('model', CALL), asked)).toEqual([])
    expect(faults(asked, turn('model', CALL), turn('user', RESULT))).toEqual([])
    expect(faults(asked, { role: 'model', parts: [CALL, RESULT, { text: 'b' }] }, asked)).toEqual([])
    const other = { functionResponse: { name: 'g', response: {} } }
    expect(faults(asked, turn('model', CALL), turn('user', other))).toEqual(['responses-paired'])
  })
})

test('Google’s cloud rates images in categories of its own', () => {
  const rated = (rating: JsonObject): JsonObject => ({ candidates: [{ safetyRatings: [rating] }] })
  const rating = { category: 'HARM_CATEGORY_IMAGE_HATE', probability: 'NEGLIGIBLE' }
  expect(eventFaults('contents', rated(rating))).toEqual([])
  expect(eventFaults('contents', rated({ ...rating, probability: 'SOME' }))).not.toEqual([])
})
