import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/canonical/node.ts'
import type { ServerEvent } from '../../../../src/canonical/voice-session-event.ts'
import { readDialect } from '../../../../src/voice/formats/realtime/dialect.ts'
import { ServerReader } from '../../../../src/voice/formats/realtime/server-reader.ts'

const readAll = (dialect: JsonObject, ...frames: readonly JsonObject[]): ServerEvent[] => {
  const reader = new ServerReader(readDialect(dialect))
  return frames.flatMap(frame => reader.read(JSON.stringify(frame)))
}

const at = (response: string) => ({ response_id: response, item_id: `item_${response}`, output_index: 0 })
const part = (response: string) => ({ ...at(response), content_index: 0 })

describe('two parallel responses', () => {
  const started = (response: string): JsonObject[] => [
    { type: 'response.created', response: { id: response } },
    { type: 'response.output_item.added', ...at(response), item: { id: `item_${response}`, type: 'message' } },
    { type: 'response.output_text.delta', ...part(response), delta: `Text of ${response}` },
  ]
  const done = (response: string): JsonObject => ({
    type: 'response.done',
    response: { id: response, status: 'completed', output: [{ id: `item_${response}` }] },
  })

  test('the end of a response does not repeat the text of the other', () => {
    const events = readAll({}, ...started('a'), ...started('b'), done('b'), {
      ...{ type: 'response.output_text.done', ...part('a') },
      text: 'Text of a, complete',
    })
    const texts = events.flatMap(event =>
      event.type === 'text-delta' && event.at.response === 'a' ? [event.text] : [],
    )
    expect(texts).toEqual(['Text of a', ', complete'])
  })

  test('the lengths of an ended response are dropped', () => {
    const events = readAll({}, ...started('a'), done('a'), {
      ...{ type: 'response.output_text.done', ...part('a') },
      text: 'Text of a',
    })
    expect(events.filter(({ type }) => type === 'text-delta')).toHaveLength(2)
  })
})

test.each([
  ['outside the conversation', null, { detached: true }],
  ['in the conversation', 'conv_1', {}],
  ['whose server names no conversation', undefined, {}],
])('a response %s is one', (_, conversation_id, expected) => {
  const response = conversation_id === undefined ? { id: 'r' } : { id: 'r', conversation_id }
  const events = readAll({}, { type: 'response.created', response })
  expect(events).toEqual([{ type: 'response-start', response: 'r', ...expected }])
})

test.each([
  ['ga', 'output_modalities'],
  ['beta', 'modalities'],
])('the modalities of a response of the %s generation are read from %s', (naming, field) => {
  const created = { type: 'response.created', response: { id: 'r', [field]: ['text', 'smell'] } }
  expect(readAll({ naming }, created)).toEqual([{ type: 'response-start', response: 'r', modalities: ['text'] }])
})

describe('xAI, which states no previous item in most events', () => {
  const XAI = { layout: 'mixed', item_done: false }
  const item = (id: string, status = 'completed'): JsonObject => ({ id, type: 'message', role: 'user', status })

  test('an item without one has no stated place, instead of the first', () => {
    const frame = { type: 'conversation.item.added', previous_item_id: null, item: item('a') }
    expect(readAll(XAI, frame).map(event => 'after' in event)).toEqual([false, false])
    expect(readAll({}, frame)).toMatchObject([{ type: 'item-added', after: null }])
  })

  test('the item of speech that is still heard is complete when it is done', () => {
    const frame = { type: 'conversation.item.added', previous_item_id: null, item: item('a', 'in_progress') }
    expect(readAll(XAI, frame)).toMatchObject([
      { type: 'item-added', item: { status: 'in_progress' } },
      { type: 'item-done', item: { status: 'completed' } },
    ])
  })
})
