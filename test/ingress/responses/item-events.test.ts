import { describe, expect, test } from 'vitest'
import { fold } from '../../../src/canonical/fold.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { STREAM_REQUEST } from '../../builders/requests.ts'
import { namedEvent } from '../../builders/streams.ts'

/* Streams whose events give the parts of an item other indexes than the final item does, as those of vLLM. */

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
const THOUGHT: JsonObject = { id: 'rs_1', type: 'reasoning', summary: [] }
const MESSAGE: JsonObject = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
const textPart = (text: string, more: JsonObject = {}) => ({ type: 'output_text', text, annotations: [], ...more })

/** Events of one item, each at a content index. */
const itemEvents = (output_index: number, item: JsonObject) => ({
  added: namedEvent('response.output_item.added', { output_index, item }),
  done: (final: JsonObject) => namedEvent('response.output_item.done', { output_index, item: { ...item, ...final } }),
  at: (content_index: number, type: string, fields: JsonObject) =>
    namedEvent(`response.${type}`, { output_index, item_id: item['id']!, content_index, ...fields }),
})

const read = (events: readonly WireEvent[], output: JsonObject[]) =>
  fold(
    drain(READERS['responses']!.events!(STREAM_REQUEST), [
      namedEvent('response.created', { response: RESPONSE }),
      ...events,
      namedEvent('response.completed', { response: { ...RESPONSE, status: 'completed', output } }),
    ]),
  ).candidates[0]!.content.map(part => ('text' in part ? [part.type, part.text] : [part.type]))

describe('a text arrives once', () => {
  const { added, at, done } = itemEvents(0, MESSAGE)
  const final = { content: [textPart('Hello there')] }

  test('though each of its events has another index', () => {
    const events = [
      added,
      at(0, 'content_part.added', { part: textPart('') }),
      ...['Hel', 'lo ', 'there'].map((delta, index) => at(index + 1, 'output_text.delta', { delta })),
      at(4, 'output_text.done', { text: 'Hello there' }),
      at(5, 'content_part.done', { part: textPart('Hello there') }),
      done(final),
    ]
    expect(read(events, [{ ...MESSAGE, ...final }])).toEqual([['text', 'Hello there']])
    // Without the events that announce and end it.
    expect(read(events.slice(2, 5), [{ ...MESSAGE, ...final }])).toEqual([['text', 'Hello there']])
  })

  test('though its index counts on over the items before it, and late citations find it', () => {
    const cited = { content: [textPart('Hi', { annotations: [{ type: 'url_citation', url: 'https://a.example' }] })] }
    const later = itemEvents(1, MESSAGE)
    const events = drain(READERS['responses']!.events!(STREAM_REQUEST), [
      namedEvent('response.created', { response: RESPONSE }),
      itemEvents(0, THOUGHT).at(0, 'reasoning_text.delta', { delta: 'Hm.' }),
      itemEvents(0, THOUGHT).done({ content: [{ type: 'reasoning_text', text: 'Hm.' }] }),
      later.added,
      later.at(1, 'content_part.added', { part: textPart('') }),
      later.at(1, 'output_text.delta', { delta: 'Hi' }),
      later.at(1, 'output_text.done', { text: 'Hi' }),
      later.done({ content: [textPart('Hi')] }),
      namedEvent('response.completed', {
        response: { ...RESPONSE, status: 'completed', output: [THOUGHT, { ...MESSAGE, ...cited }] },
      }),
    ])
    expect(fold(events).candidates[0]!.content).toMatchObject([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hi', annotations: [{ type: 'citation', url: 'https://a.example' }] },
    ])
  })

  test('and a text that was announced or follows a whole one is another', () => {
    const two = { content: [textPart('One'), textPart('Two')] }
    const parts = [{ ...MESSAGE, ...two }]
    const both = [
      ['text', 'One'],
      ['text', 'Two'],
    ]
    const events = [
      added,
      at(0, 'content_part.added', { part: textPart('') }),
      at(0, 'output_text.delta', { delta: 'One' }),
      at(0, 'output_text.done', { text: 'One' }),
      at(1, 'output_text.delta', { delta: 'Two' }),
      at(1, 'output_text.done', { text: 'Two' }),
      done(two),
    ]
    expect(read(events, parts)).toEqual(both)
    expect(
      read([...events.slice(0, 3), at(1, 'content_part.added', { part: textPart('') }), ...events.slice(4)], parts),
    ).toEqual(both)
    expect(read([added, events[3]!, events[5]!, done(two)], parts)).toEqual(both)
  })
})

describe('full reasoning text', () => {
  const { at, done } = itemEvents(0, THOUGHT)
  const delta = (index: number, delta: string) => at(index, 'reasoning_text.delta', { delta })
  const whole = (index: number, text: string) => at(index, 'reasoning_text.done', { text })
  const final = (...texts: string[]) => ({ content: texts.map(text => ({ type: 'reasoning_text', text })) })

  test('is one chunk though each of its events has another index', () => {
    const events = [delta(1, 'The '), delta(2, 'user '), delta(3, 'waits.'), whole(4, 'The user waits.')]
    const end = final('The user waits.')
    expect(read([...events, done(end)], [{ ...THOUGHT, ...end }])).toEqual([['reasoning', 'The user waits.']])
  })

  test('has another chunk after a whole one', () => {
    const events = [delta(0, 'One'), whole(0, 'One'), delta(1, 'Two'), whole(1, 'Two')]
    const end = final('One', 'Two')
    expect(read([...events, done(end)], [{ ...THOUGHT, ...end }])).toEqual([['reasoning', 'One\n\nTwo']])
  })
})

test('a call is one call though its last events have the index of the next item and no id of their own', () => {
  const called = (more: JsonObject) => ({ type: 'function_call', name: 'f', call_id: 'call_1', ...more })
  const { added, at } = itemEvents(0, called({ id: 'fc_1', arguments: '' }))
  const call = { arguments: '{"a":1}', status: 'completed' }
  const content = read(
    [
      added,
      at(0, 'function_call_arguments.delta', { delta: '{"a":1}' }),
      namedEvent('response.function_call_arguments.done', { output_index: 1, item_id: 'fc_1', arguments: '{"a":1}' }),
      namedEvent('response.output_item.done', {
        output_index: 1,
        item: called({ ...call, id: null, item_id: 'fc_1', call_id: 'fc_2' }),
      }),
      itemEvents(1, MESSAGE).added,
      itemEvents(1, MESSAGE).at(0, 'output_text.delta', { delta: 'Wait.' }),
      itemEvents(2, MESSAGE).done({ content: [textPart('Wait.')] }),
    ],
    [called({ ...call, id: 'fc_9' }), { ...MESSAGE, id: 'msg_9', content: [textPart('Wait.')] }],
  )
  expect(content).toEqual([['tool-call'], ['text', 'Wait.']])
})

test('parallel calls without ids and indexes keep their arguments, as those of llama.cpp', () => {
  const called = (call_id: string, name: string, args: string, status = 'completed') => ({
    ...{ type: 'function_call', call_id, name, arguments: args, status },
  })
  const added = (item: JsonObject) => namedEvent('response.output_item.added', { item })
  const delta = (item_id: string, delta: string) =>
    namedEvent('response.function_call_arguments.delta', { item_id, delta })
  const calls = [called('fc_1', 'f', '{"a":1}'), called('fc_2', 'g', '{"b":2}')]
  const events = drain(READERS['responses']!.events!(STREAM_REQUEST), [
    namedEvent('response.created', { response: RESPONSE }),
    ...[added(called('fc_1', 'f', '', 'in_progress')), delta('fc_1', '{"a":'), delta('fc_1', '1}')],
    ...[added(called('fc_2', 'g', '', 'in_progress')), delta('fc_2', '{"b":2}')],
    ...calls.map(item => namedEvent('response.output_item.done', { item })),
    namedEvent('response.completed', { response: { ...RESPONSE, status: 'completed', output: calls } }),
  ])
  expect(fold(events).candidates[0]!.content).toMatchObject([
    { type: 'tool-call', id: 'fc_1', name: 'f', arguments: '{"a":1}' },
    { type: 'tool-call', id: 'fc_2', name: 'g', arguments: '{"b":2}' },
  ])
  expect(events.filter(({ type }) => type === 'part-delta')).toHaveLength(3)
})

test.each([
  ['failed', { error: { code: 'server_error', message: 'The server had an error.' } }],
  ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }],
  ['completed', {}],
])('a final event of type %s states how the answer ended though its response has no status', (type, fields) => {
  const { status: _, ...response } = { ...RESPONSE, ...fields }
  const result = fold(
    drain(READERS['responses']!.events!(STREAM_REQUEST), [
      namedEvent('response.created', { response: RESPONSE }),
      namedEvent(`response.${type}`, { response }),
    ]),
  )
  const expected = {
    failed: { error: { message: 'The server had an error.' } },
    incomplete: { candidates: [{ finish: { reason: 'length' } }] },
    completed: { candidates: [{ finish: { reason: 'stop' } }] },
  }[type]!
  expect(result).toMatchObject(expected)
})

describe('an item is not taken for one of another type at its index', () => {
  const SEARCH: JsonObject = {
    ...{ id: 'ws_1', type: 'web_search_call', status: 'completed' },
    action: { type: 'search', query: 'weather', sources: [{ type: 'url', url: 'https://a.example' }] },
  }
  const CALL: JsonObject = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'look', arguments: '' }
  const MESSAGE_DONE = { content: [textPart('Sunny.')] }

  test('though it is only announced by its end', () => {
    const thought = { summary: [{ type: 'summary_text', text: 'Hm.' }] }
    const events = [itemEvents(0, SEARCH).added, itemEvents(0, THOUGHT).done(thought)]
    expect(read(events, [])).toEqual([['search-call'], ['reasoning', 'Hm.'], ['search-result']])
  })

  test('though it continues as text', () => {
    const { at, done } = itemEvents(0, MESSAGE)
    const events = [
      itemEvents(0, CALL).added,
      at(0, 'output_text.delta', { delta: 'Sunny.' }),
      done(MESSAGE_DONE),
      itemEvents(0, CALL).done({ arguments: '{"at":1}' }),
    ]
    expect(
      read(events, [
        { ...CALL, arguments: '{"at":1}' },
        { ...MESSAGE, ...MESSAGE_DONE },
      ]),
    ).toEqual([['tool-call'], ['text', 'Sunny.']])
  })

  test('though only the whole answer has it', () => {
    const answer = read([itemEvents(0, CALL).added], [{ ...MESSAGE, ...MESSAGE_DONE }])
    expect(answer).toEqual([['tool-call'], ['text', 'Sunny.']])
  })

  test('and one that ends without its item stays what it was', () => {
    const { added } = itemEvents(0, CALL)
    expect(read([added, namedEvent('response.output_item.done', { output_index: 0 })], [])).toEqual([['tool-call']])
  })

  test('and its end in a form that cannot be read does not replace it', () => {
    const call = itemEvents(0, CALL)
    const delta = call.at(0, 'function_call_arguments.delta', { delta: '{}' })
    expect(read([call.added, delta, call.done({ arguments: '{}', status: true })], [])).toEqual([['tool-call']])
    const message = itemEvents(0, MESSAGE)
    const text = message.at(0, 'output_text.delta', { delta: 'Sunny.' })
    expect(read([message.added, text, message.done({ ...MESSAGE_DONE, status: true })], [])).toEqual([
      ['text', 'Sunny.'],
    ])
  })

  test('and is read at its end though it could not be read at its start', () => {
    const { done } = itemEvents(0, CALL)
    const { added } = itemEvents(0, { ...CALL, status: true })
    expect(read([added, done({ arguments: '{}' })], [])).toEqual([['opaque'], ['tool-call']])
  })
})

test('items that all have the index 0, and no event of their own that ends them, keep what is theirs', () => {
  const call = (id: string, args: string) => ({ id, type: 'function_call', call_id: id, name: 'f', arguments: args })
  const eventsOf = (id: string, args: string) => [
    namedEvent('response.output_item.added', { output_index: 0, item: call(id, '') }),
    namedEvent('response.function_call_arguments.delta', { output_index: 0, item_id: id, delta: args }),
  ]
  const events = drain(READERS['responses']!.events!(STREAM_REQUEST), [
    namedEvent('response.created', { response: RESPONSE }),
    ...eventsOf('fc_1', '{"a":1}'),
    ...eventsOf('fc_2', '{"b":2}'),
    namedEvent('response.completed', {
      response: { ...RESPONSE, status: 'completed', output: [call('fc_1', '{"a":1}'), call('fc_2', '{"b":2}')] },
    }),
  ])
  expect(fold(events).candidates[0]!.content).toMatchObject([
    { id: 'fc_1', arguments: '{"a":1}' },
    { id: 'fc_2', arguments: '{"b":2}' },
  ])
})
