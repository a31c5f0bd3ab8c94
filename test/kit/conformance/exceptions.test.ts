import { expect, test } from 'vitest'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import type { JsonObject } from '../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'

/* Values that the publishers' own SDKs are tested with, and the published schemas refuse, are legal. */

const eventFaults = (format: string, event: JsonObject): readonly string[] => {
  const { schemas, exceptions } = FORMATS[format]!
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

test('a part of a response may have no log probabilities', () => {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0, sequence_number: 2 }
  const added = (part: JsonObject): JsonObject => ({ type: 'response.content_part.added', ...at, part })
  expect(eventFaults('responses', added({ type: 'output_text', text: '', annotations: [] }))).toEqual([])
  expect(eventFaults('responses', added({ type: 'output_text', annotations: [] }))).not.toEqual([])
})
