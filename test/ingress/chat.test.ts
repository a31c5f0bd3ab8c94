import { expect, test } from 'vitest'
import { unfold } from '../../src/canonical/fold.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { chat as writer } from '../../src/egress/chat/index.ts'
import { chat as reader } from '../../src/ingress/chat/index.ts'

const ASKED: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

test('an upstream that sends an empty refusal with its answer has refused nothing', () => {
  const message = { role: 'assistant', content: 'Four.', refusal: '' }
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: '' }] }
  const result = reader.result!({ status: 200, headers: {}, body }, ASKED)
  expect(result.candidates[0]!.content).toEqual([{ type: 'text', text: 'Four.' }])
  expect(writer.result!(result, ASKED).wire.body).toMatchObject(body)
})

test.each([{ finish_reason: '' }, {}])(
  'a whole answer that does not say why it ended (%j) streams with a reason',
  ended => {
    const message = { role: 'assistant', content: 'Four.' }
    const body = { object: 'chat.completion', choices: [{ index: 0, message, ...ended }] }
    const result = reader.result!({ status: 200, headers: {}, body }, ASKED)
    const events = drain(writer.events!(ASKED), unfold(result)).map(({ data }) => data)
    expect(events.filter(data => data.includes('"finish_reason":"stop"'))).toHaveLength(1)
  },
)

test('annotations without a text to stand in are kept', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const annotations = [{ type: 'file', file: { hash: 'x' } }]
  const message = { role: 'assistant', content: null, annotations, tool_calls: [call] }
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  const result = reader.result!({ status: 200, headers: {}, body }, ASKED)
  expect(writer.result!(result, ASKED).wire.body).toMatchObject(body)
})
