import { expect, test } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { chat as writer } from '../../src/egress/chat/index.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { chat as reader } from '../../src/ingress/chat/index.ts'
import { REQUEST, wireRequest } from '../builders/requests.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { grammarFault } from '../laws/grammar.ts'

test('an empty refusal beside an answer is not a refusal', () => {
  const message = { role: 'assistant', content: 'Four.', refusal: '' }
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: '' }] }
  const result = reader.result!({ status: 200, headers: {}, body }, REQUEST)
  expect(result.candidates[0]!.content).toEqual([{ type: 'text', text: 'Four.' }])
  expect(writer.result!(result, REQUEST).wire.body).toMatchObject(body)
})

test.each([{ finish_reason: '' }, {}])(
  'a whole answer that does not say why it ended (%j) streams with a reason',
  ended => {
    const message = { role: 'assistant', content: 'Four.' }
    const body = { object: 'chat.completion', choices: [{ index: 0, message, ...ended }] }
    const result = reader.result!({ status: 200, headers: {}, body }, REQUEST)
    const events = drain(writer.events!(REQUEST), unfold(result)).map(({ data }) => data)
    expect(events.filter(data => data.includes('"finish_reason":"stop"'))).toHaveLength(1)
  },
)

test('annotations without a text become extras', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const annotations = [{ type: 'file', file: { hash: 'x' } }]
  const message = { role: 'assistant', content: null, annotations, tool_calls: [call] }
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  const result = reader.result!({ status: 200, headers: {}, body }, REQUEST)
  expect(writer.result!(result, REQUEST).wire.body).toMatchObject(body)
})

test('a deprecated choice beside a current one reaches chat upstreams and is a loss for all others', () => {
  const body = { model: 'm', messages: [], tool_choice: 'auto', function_call: { name: 'f' } }
  const request = reader.request!({ path: '/chat/completions', query: {}, headers: {}, body })
  expect(writer.request!(request, NATIVE).wire.body).toEqual(body)
  const { losses } = WRITERS['messages']!.request!(request, FOREIGN)
  expect(losses.map(({ path }) => path.join('/'))).toContain('extras/chat/function_call')
})

test('Mistral’s word for a required call requires a call of every upstream', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools, tool_choice: 'any' }
  const request = reader.request!({ path: '/chat/completions', query: {}, headers: {}, body })
  expect(request.toolChoice).toEqual({ mode: 'required' })
  expect(WRITERS['messages']!.request!(request, FOREIGN).wire.body['tool_choice']).toEqual({ type: 'any' })
})

test('the seed is read by Mistral’s name, and by OpenAI’s beside it', () => {
  const asked = (seeds: JsonObject) =>
    reader.request!({
      ...{ path: '/chat/completions', query: {}, headers: {} },
      body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...seeds },
    })
  expect(asked({ random_seed: 7 }).sampling).toEqual({ seed: 7 })
  expect(asked({ random_seed: 7 }).extras).toBeUndefined()
  expect(asked({ random_seed: 7, seed: 8 })).toMatchObject({
    sampling: { seed: 8 },
    extras: { chat: { random_seed: 7 } },
  })
})

test('alternatives of a token have no alternatives themselves', () => {
  const rival = { token: 'b', logprob: -2, bytes: null }
  const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [rival] }
  const message = { role: 'assistant', content: 'a', refusal: null }
  const choice = { index: 0, message, logprobs: { content: [token], refusal: null }, finish_reason: 'stop' }
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }
  const result = reader.result!({ status: 200, headers: {}, body }, REQUEST)
  expect(writer.result!(result, REQUEST).wire.body).toEqual(body)
})

test('an answer without a finish reason gets one, which is reported as added', () => {
  const result = {
    id: 'c',
    model: 'm',
    createdAt: 1,
    candidates: [{ content: [{ type: 'text' as const, text: 'a' }] }],
  }
  const { wire, losses } = writer.result!(result, REQUEST)
  expect(wire.body).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
  expect(losses.map(({ path }) => path.join('/'))).toContain('candidates/0/finish')
})

test('a complete call ends once, even if a nameless call after it starts at the end of the stream', () => {
  const piece = (index: number, id: string, name: string, said: string) => ({
    data: JSON.stringify({
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { tool_calls: [{ index, id, function: { name, arguments: said } }] } }],
    }),
  })
  const finish = { data: JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }) }
  const chunks = [piece(0, 'a', 'a', '{"a":1}'), piece(1, '', '', 'a'), finish, { data: '[DONE]' }]
  const events = drain(reader.events!(REQUEST), chunks)
  expect(grammarFault(events)).toBeUndefined()
  const calls = fold(events).candidates[0]!.content
  expect(calls).toMatchObject([{ name: 'a', arguments: '{"a":1}' }, { arguments: 'a' }])
})

const chunked = (...deltas: JsonObject[]) =>
  drain(reader.events!(REQUEST), [
    ...deltas.map(delta => ({
      data: JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] }),
    })),
    { data: JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) },
  ])
const cites = (start_index: number, end_index: number): JsonObject => ({
  annotations: [
    { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index, end_index } },
  ],
})

type Choices = { readonly choices: readonly { readonly message: JsonObject }[] }

/** Returns the deltas of all chunks with citations. */
const listsIn = (events: readonly WireEvent[]): JsonObject[] =>
  events
    .flatMap(({ data }) => parseObject(data)?.['choices'] ?? [])
    .flatMap((choice: Json) =>
      isObject(choice) && isObject(choice['delta']) && 'annotations' in choice['delta'] ? [choice['delta']] : [],
    )

test('a late citation belongs to the text that it cites', () => {
  const events = chunked(
    { content: 'Hi!' },
    { reasoning_content: 'Hm.' },
    { content: ' Ho.' },
    cites(0, 2),
    cites(4, 6),
  )
  expect(grammarFault(events)).toBeUndefined()
  const url = 'https://a.example'
  expect(fold(events).candidates[0]!.content).toMatchObject([
    { text: 'Hi!', annotations: [{ url, start: 0, end: 2 }] },
    { type: 'reasoning' },
    { text: ' Ho.', annotations: [{ url, start: 1, end: 3 }] },
  ])
})

const CALL = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }

test.each<[string, JsonObject]>([
  ['a thought', { reasoning_content: 'Hm.' }],
  ['a call', { tool_calls: [{ index: 0, ...CALL }] }],
])('a citation after its text and %s has the same position in a whole and a streamed answer', (_, between) => {
  const late = cites(0, 2)
  const events = chunked({ content: 'Hi!' }, between, late)
  const message = { role: 'assistant', content: 'Hi!', ...between, ...late }
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const whole = reader.result!({ status: 200, headers: {}, body }, REQUEST)
  const { choices } = writer.result!(fold(events), REQUEST).wire.body as Choices
  const asked = (writer.result!(whole, REQUEST).wire.body as Choices).choices[0]!.message['annotations']
  expect(choices[0]!.message['annotations']).toEqual(asked)
  expect(listsIn(drain(writer.events!(REQUEST), events))).toMatchObject([{ annotations: asked }])
})

test('all citations of an answer are streamed in one chunk, since clients use only the last one', () => {
  const cited = (text: string, url: string): Part => ({ type: 'text', text, annotations: [{ type: 'citation', url }] })
  const content = [cited('One.', 'https://a.example'), cited('Two.', 'https://b.example')]
  const events = drain(writer.events!(REQUEST), unfold({ candidates: [{ content, finish: { reason: 'stop' } }] }))
  expect(listsIn(events)).toMatchObject([
    {
      annotations: [
        { url_citation: { url: 'https://a.example', start_index: 0 } },
        { url_citation: { url: 'https://b.example', start_index: 4 } },
      ],
    },
  ])
})

const between: readonly (readonly [string, Part])[] = [
  ['an image', { type: 'media', kind: 'image', source: { type: 'url', url: 'https://i.example' } }],
  ['a call', { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }],
  ['a thought', { type: 'reasoning', text: 'Hm.' }],
]

test.each(between)('citations around %s are streamed as one list, and no text waits for them', (_, part) => {
  const cited = (text: string, url: string): Part => ({ type: 'text', text, annotations: [{ type: 'citation', url }] })
  const content = [cited('One.', 'https://a.example'), part, cited('Two.', 'https://b.example')]
  const result = { candidates: [{ content, finish: { reason: 'stop' as const } }] }
  const sent = drain(writer.events!(REQUEST), unfold(result))
  const asked = (writer.result!(result, REQUEST).wire.body as Choices).choices[0]!.message['annotations']
  expect(listsIn(sent)).toMatchObject([{ annotations: asked }])
  const places = ['"One."', '"Two."', '"annotations"', '"finish_reason":"'].map(text =>
    sent.findIndex(({ data }) => data.includes(text)),
  )
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  // Assembles the chunks as clients do. Text and calls are appended to. Any other field of a delta is replaced.
  const last = Object.assign({}, ...listsIn(sent)) as JsonObject
  expect(last['annotations']).toHaveLength(2)
})

test('each text is sent with its own event, whatever was cited before', () => {
  const at = (part: number) => ({ candidate: 0, part })
  const annotations = [{ type: 'citation', url: 'https://a.example' }] as const
  const write = writer.events!(REQUEST)
  write.push({ type: 'result-start' })
  for (const part of [0, 1]) {
    write.push({ type: 'part-start', at: at(part), part: { type: 'text', text: '' } })
    const sent = write.push({ type: 'part-delta', at: at(part), append: `text ${part}` })
    expect(sent.some(({ data }) => data.includes(`text ${part}`))).toBe(true)
    write.push({ type: 'part-patch', at: at(part), annotations })
    write.push({ type: 'part-end', at: at(part) })
  }
})

test('a caller that returns a spoken answer without an id, as other formats have none, is understood', () => {
  const source = { type: 'base64', mediaType: 'audio/wav', data: 'UklGRgAAAABXQVZFAAAAAA==' } as const
  const audio: Part = { type: 'media', kind: 'audio', source, transcript: 'Hi!' }
  const spoken = { id: 'a', model: 'm', candidates: [{ content: [audio], finish: { reason: 'stop' as const } }] }
  const { choices } = writer.result!(spoken, REQUEST).wire.body as { choices?: readonly { message: JsonObject }[] }
  const messages = [{ role: 'user', content: 'Hi' }, choices![0]!.message, { role: 'user', content: 'Go on.' }]
  const request = reader.request!(wireRequest('/v1/chat/completions', { model: 'm', messages }))
  expect(request.messages[1]!.content).toEqual([audio])
})
