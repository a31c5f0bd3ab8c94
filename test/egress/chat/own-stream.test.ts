import { expect, test } from 'vitest'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { chat as writer } from '../../../src/egress/chat/index.ts'
import { chat as reader } from '../../../src/ingress/chat/index.ts'
import { REQUEST } from '../../builders/requests.ts'

const HEAD = { id: 'up-1', object: 'chat.completion.chunk', created: 1, model: 'upstream' }
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason, x_choice: null }],
})
const ROLE = chunk({ role: 'assistant', content: '' })
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const COUNTING: CanonicalRequest = { ...REQUEST, spelling: { chat: { stream_options: { include_usage: true } } } }

/** Returns the text of the relayed stream under the caller's id and model, and whether the stream needed no repair. */
function passed(bodies: readonly JsonObject[], request = REQUEST) {
  const read = reader.events!(request)
  const write = writer.nativeEvents!(request)
  const named = (event: CanonicalEvent): CanonicalEvent =>
    event.type === 'result-start' ? { ...event, id: 'own', model: 'asked for', createdAt: event.createdAt ?? 9 } : event
  const events: WireEvent[] = [...bodies.map(body => ({ data: JSON.stringify(body) })), { data: '[DONE]' }]
  const sent = events.flatMap(event => write.relay(event, read.push(event).map(named)))
  return { sent: sent.map(({ data }) => data), irregular: read.irregular }
}

const named = { id: 'own', model: 'asked for' }

test.each([
  ['before', (body: JsonObject): JsonObject => ({ ...HEAD, x_more: { a: [1, null] }, ...body })],
  ['behind', (body: JsonObject): JsonObject => ({ ...body, x_more: { a: [1, null] }, ...HEAD })],
])('id and model stand %s the choices: everything else passes', (_, whole) => {
  const bodies = [ROLE, chunk({ content: 'a "model":"upstream"' }), chunk({ content: 'b' }), chunk({}, 'eos')].map(
    whole,
  )
  const { sent, irregular } = passed(bodies)
  expect(sent).toEqual([...bodies.map(body => JSON.stringify({ ...body, ...named })), '[DONE]'])
  expect(irregular).toBe(false)
})

test('nested fields named like those of the answer stay unchanged', () => {
  const bodies = [ROLE, chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop')].map(body => ({
    x_more: { id: 'x', model: 'y' },
    ...body,
    ...HEAD,
  }))
  expect(passed(bodies).sent.slice(0, -1)).toEqual(bodies.map(body => JSON.stringify({ ...body, ...named })))
})

test('a candidate that finishes beside another one finishes once, even if the stream is cut short', () => {
  const done = { index: 1, delta: {}, finish_reason: 'stop' }
  const [first] = ROLE.choices
  const bodies = [
    { choices: [first!, { ...first!, index: 1 }] },
    { choices: [...chunk({ content: 'a' }).choices, done] },
    chunk({}, 'stop'),
  ]
  const read = reader.events!(REQUEST)
  const write = writer.nativeEvents!(REQUEST)
  const events = bodies.map(body => ({ data: JSON.stringify({ ...HEAD, ...body }) }))
  const relayed = events.flatMap(event => write.relay(event, read.push(event)))
  const rest = read.end().flatMap(event => write.push(event))
  expect([...relayed, ...rest].map(({ data }) => data)).toEqual([...events.map(({ data }) => data), '[DONE]'])
})

test('a chunk that comes before the id of the answer is held, and a missing time is added', () => {
  const { created: _, ...undated } = HEAD
  const early = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [1] }
  const bodies = [early, ...[ROLE, chunk({ content: 'a' }), chunk({}, 'stop')].map(body => ({ ...undated, ...body }))]
  const sent = passed(bodies)
    .sent.slice(0, -1)
    .map(data => JSON.parse(data))
  expect(sent).toEqual(bodies.map(body => ({ created: 9, ...body, ...named })))
})

test.each([
  ['not passed on', REQUEST, 3],
  ['passed on', COUNTING, 4],
])('a chunk of usage alone is %s, by what the caller requested', (_, request, count) => {
  const bodies = [ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), { choices: [], usage: USAGE }]
  const { sent, irregular } = passed(
    bodies.map(body => ({ ...HEAD, ...body })),
    request,
  )
  expect(sent).toHaveLength(count + 1)
  expect(irregular).toBe(false)
})

const call = (more: JsonObject, text?: string) =>
  chunk({
    tool_calls: [{ ...more, function: { ...(text === undefined ? { name: 'f' } : {}), arguments: text ?? '' } }],
  })

const NAMED = chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] })

test.each<[string, JsonObject[]]>([
  ['no role', [chunk({ content: 'a' }), chunk({}, 'stop')]],
  ['no reason for the end', [ROLE, chunk({ content: 'a' })]],
  [
    'a whole message',
    [{ choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }] }],
  ],
  ['a call without id', [ROLE, call({ index: 0 }), call({ index: 0 }, '{"a":1}'), chunk({}, 'tool_calls')]],
  ['calls of one index', [ROLE, call({ index: 0, id: 'a' }), call({ index: 0, id: 'b' }), chunk({}, 'tool_calls')]],
  [
    'a call with its id in every chunk',
    [ROLE, call({ index: 0, id: 'a' }), call({ index: 0, id: 'a' }, '{"a":1}'), chunk({}, 'tool_calls')],
  ],
  [
    'a call with its name in every chunk',
    [ROLE, call({ index: 0, id: 'a' }), NAMED, call({ index: 0 }, '{"a":1}'), chunk({}, 'tool_calls')],
  ],
  ['a call without arguments', [ROLE, call({ index: 0, id: 'a' }), chunk({}, 'tool_calls')]],
  ['content as a list', [ROLE, chunk({ content: [{ type: 'text', text: 'a' }] }), chunk({}, 'stop')]],
  [
    'an error beside the end',
    [ROLE, { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: 'at 10.0.0.1' }] }],
  ],
  ['usage before the end', [ROLE, chunk({ content: 'a' }), { choices: [], usage: USAGE }]],
  ['a second chunk before the start', [{ choices: [] }, { choices: [] }, ROLE, chunk({}, 'stop')]],
  ['a choice that is none', [ROLE, { choices: [null] }, chunk({}, 'stop')]],
  ['calls that are no list', [ROLE, chunk({ tool_calls: {} }), chunk({}, 'stop')]],
  ['a call that is none', [ROLE, chunk({ tool_calls: [null] }), chunk({}, 'stop')]],
  ['content that is no text', [ROLE, chunk({ content: { text: 'a' } }), chunk({}, 'stop')]],
  ['a finish reason that is no text', [ROLE, { choices: [{ index: 0, delta: {}, finish_reason: 0 }] }]],
  ['a second end', [ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), chunk({}, 'stop')]],
  [
    'a call that ends like a text',
    [ROLE, call({ index: 0, id: 'a' }), call({ index: 0 }, '{"a":1}'), chunk({}, 'stop')],
  ],
  [
    'two calls of one id',
    [ROLE, call({ index: 0, id: 'a' }), call({ index: 0 }, '{"a":1}'), call({ index: 1, id: 'a' }), chunk({}, null)],
  ],
  [
    'arguments behind those of a whole call',
    [
      ROLE,
      call({ index: 0, id: 'a' }),
      call({ index: 0 }, '{"a":1}'),
      chunk({ content: 'a' }),
      call({ index: 0 }, '}'),
    ],
  ],
  ['usage elsewhere', [ROLE, chunk({ content: 'a' }), { ...chunk({}, 'stop'), x_groq: { usage: USAGE } }]],
])('%s is made good, so the stream is written anew', (_, bodies) => {
  expect(passed(bodies.map(body => ({ ...HEAD, ...body }))).irregular).toBe(true)
})

/** Returns the arguments of each call, joined as clients do. */
function argumentsIn(sent: readonly string[]): string[] {
  const texts: string[] = []
  for (const data of sent.filter(data => data !== '[DONE]'))
    for (const { delta } of JSON.parse(data).choices ?? [])
      for (const { index, function: called } of delta.tool_calls ?? [])
        texts[index] = (texts[index] ?? '') + (called?.arguments ?? '')
  return texts
}

const INTERLEAVED = [
  ROLE,
  call({ index: 0, id: 'a' }),
  call({ index: 1, id: 'b' }),
  call({ index: 0 }, '{"x":'),
  call({ index: 1 }, '{"y":'),
  call({ index: 0 }, '1}'),
  call({ index: 1 }, '2}'),
]

test.each<[string, JsonObject[], string[]]>([
  ['breaks off', [], ['{"x":1}', '{"y":2}']],
  ['just ends behind its reason', [chunk({}, 'tool_calls')], ['{"x":1}', '{"y":2}']],
])('interleaved calls keep their arguments where the stream %s', (_, more, texts) => {
  const read = reader.events!(REQUEST)
  const write = writer.nativeEvents!(REQUEST)
  const events = [...INTERLEAVED, ...more].map(body => ({ data: JSON.stringify({ ...HEAD, ...body }) }))
  const relayed = events.flatMap(event => write.relay(event, read.push(event)))
  const rest = read.end().flatMap(event => write.push(event))
  const sent = [...relayed, ...rest, ...write.end()].map(({ data }) => data)
  expect(argumentsIn(sent)).toEqual(texts)
  expect(sent.at(-1)).toContain(more.length === 0 ? 'early' : '[DONE]')
})

test('interleaved calls keep their arguments at whatever point rewriting begins', () => {
  const bodies = [...INTERLEAVED, chunk({}, 'tool_calls')]
  const events = [...bodies.map(body => ({ data: JSON.stringify({ ...HEAD, ...body }) })), { data: '[DONE]' }]
  for (let until = 0; until <= events.length; until++) {
    const read = reader.events!(REQUEST)
    const write = writer.nativeEvents!(REQUEST)
    const sent = events.flatMap((event, at) => {
      const seen = read.push(event)
      return at < until ? write.relay(event, seen) : seen.flatMap(one => write.push(one))
    })
    expect(argumentsIn(sent.map(({ data }) => data)), `${until} relayed`).toEqual(['{"x":1}', '{"y":2}'])
    const finishes = sent.map(({ data }) => data).filter(data => data.includes('"finish_reason":"'))
    expect(finishes).toHaveLength(1)
  }
})

const CITES = { annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }] }
const IMAGES = { images: [{ type: 'image_url', image_url: { url: 'https://b.example' } }] }

test.each([
  ['behind a second end', []],
  ['behind the usage', [{ choices: [], usage: USAGE }]],
])('citations and images %s reach the caller, who has the end already', (_, between) => {
  const relayed = [ROLE, chunk({ content: 'hello' }), chunk({}, 'stop'), ...between]
  const read = reader.events!(COUNTING)
  const write = writer.nativeEvents!(COUNTING)
  const wire = (body: JsonObject): WireEvent => ({ data: JSON.stringify({ ...HEAD, ...body }) })
  for (const event of relayed.map(wire)) write.relay(event, read.push(event))
  const anew = [wire(chunk({ ...CITES, ...IMAGES }, 'stop')), { data: '[DONE]' }]
  const sent = anew.flatMap(event => read.push(event)).flatMap(event => write.push(event))
  const [lists, ...others] = sent.map(({ data }) => data)
  expect(JSON.parse(lists!).choices).toMatchObject([{ delta: { ...CITES, ...IMAGES }, finish_reason: null }])
  expect(others.filter(data => data.includes('"choices":[{'))).toEqual([])
  expect(others.at(-1)).toBe('[DONE]')
})
