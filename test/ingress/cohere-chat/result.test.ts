import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { REQUEST } from '../../builders/requests.ts'

const read = (body: JsonObject) => READERS['cohere-chat']!.result!({ status: 200, headers: {}, body }, REQUEST)
const answer = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ id: 'a', finish_reason: 'COMPLETE', message: { role: 'assistant', ...message } },
  ...more,
})

test('a plan is the text before the calls', () => {
  const called = { id: 'f_1', type: 'function', function: { name: 'f', arguments: 'null' } }
  const [candidate] = read(answer({ tool_plan: 'I will call f.', tool_calls: [called] })).candidates
  expect(candidate).toMatchObject({
    content: [
      { type: 'text', text: 'I will call f.' },
      { type: 'tool-call', name: 'f', arguments: '' },
    ],
    finish: { reason: 'tool-calls', raw: 'COMPLETE' },
  })
})

test('the tokens that the model saw are counted, and the billed ones only without them', () => {
  const billed_units = { input_tokens: 3, output_tokens: 2 }
  const tokens = { input_tokens: 498, output_tokens: 4 }
  expect(read(answer({}, { usage: { billed_units, tokens, cached_tokens: 400 } })).usage).toMatchObject({
    ...{ input: 498, output: 4, cacheRead: 400 },
  })
  expect(read(answer({}, { usage: { billed_units } })).usage).toMatchObject({ input: 3, output: 2 })
})

test('an error under status 200 is an error (trap 77)', () => {
  for (const body of [
    { message: 'invalid request' },
    { id: 'a' },
    { error: { message: 'no' } },
    answer({})['usage'] ?? {},
  ])
    expect(() => read(body as JsonObject)).toThrow(GatewayError)
})

test('malformed parts are passed on, and malformed lists are none', () => {
  const odd = { content: [{ type: 'text', text: 1 }, 7, { type: 'text', text: 'a' }], tool_calls: [{ function: 3 }] }
  expect(read(answer(odd)).candidates[0]!.content.map(({ type }) => type)).toEqual(['opaque', 'text', 'opaque'])
  expect(read(answer({ content: 3, tool_calls: {}, citations: 'a', tool_plan: [] })).candidates[0]!.content).toEqual([])
})
