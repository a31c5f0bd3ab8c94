import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold } from '../../src/canonical/fold.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'
import { eventOf } from '../builders/streams.ts'

/* Streams that break, and streams that end without the end marks of their format. */
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Wire = any
const chunk = (delta: Wire, finish_reason: string | null = null): WireEvent =>
  eventOf({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })
const piece = (index: number, args: string, name?: string): WireEvent =>
  chunk({
    tool_calls: [
      { index, ...(name ? { id: `call_${index}`, type: 'function' } : {}), function: { name, arguments: args } },
    ],
  })
const answer = (parts: Wire[], more: Wire = {}): WireEvent =>
  eventOf({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }] })
const DONE: WireEvent = { data: '[DONE]' }

const machine = (from: string, to: string) =>
  chain(READERS[from]!.events!(STREAM_REQUEST), WRITERS[to]!.events!(STREAM_REQUEST))
const parsed = (events: readonly WireEvent[]): Wire[] =>
  events.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
const told = (from: string, to: string, wire: readonly WireEvent[]): Wire[] => parsed(drain(machine(from, to), wire))
const types = (events: Wire[]): string[] => events.map(({ type }) => type)
const read = (from: string, wire: readonly WireEvent[]): readonly CanonicalEvent[] =>
  drain(READERS[from]!.events!(STREAM_REQUEST), wire)

describe('a stream that breaks', () => {
  const HALF = [chunk({ role: 'assistant', content: 'Let me see.' }), piece(0, '', 'write'), piece(0, '{"path":"/etc')]

  it('trap 88: leaves a half-written call open at a messages caller, who would execute it', () => {
    const events = told('chat', 'messages', HALF)
    expect(types(events)).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'error'],
    ])
  })

  it('trap 88: is told by an error an upstream sends amid it, and by a connection that ends', () => {
    const error = eventOf({ error: { message: 'Broke.', type: 'server_error' } })
    for (const wire of [HALF, [...HALF, error]]) {
      const result = fold(read('chat', wire))
      expect(result.error).toBeDefined()
      expect(result.candidates[0]!.finish).toBeUndefined()
      expect(read('chat', wire).filter(({ type }) => type === 'part-end').length).toBe(1)
    }
  })

  it('trap 88: makes no empty object of a call that has no arguments yet', () => {
    for (const to of ['messages', 'responses', 'chat', 'contents'])
      expect(JSON.stringify(told('chat', to, HALF.slice(0, 2)))).not.toContain('"{}"')
  })

  it('trap 88: fails with items that are incomplete, a call never whole', () => {
    const events = told('chat', 'responses', HALF)
    const { type, response } = events.at(-2)
    expect(type).toBe('response.failed')
    expect(response.output).toMatchObject([
      { type: 'message', status: 'completed' },
      { type: 'function_call', status: 'incomplete', arguments: '{"path":"/etc' },
    ])
    expect(types(events).filter(one => one === 'response.output_item.done').length).toBe(1)
    expect(types(events)).not.toContain('response.function_call_arguments.done')
  })

  it('trap 88: keeps what an upstream’s own item said of itself from looking whole', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '', status: 'completed' }
    const created = { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } }
    const events = told('responses', 'responses', [
      eventOf(created),
      eventOf({ type: 'response.output_item.added', output_index: 0, item }),
    ])
    expect(events.at(-1).response.output).toMatchObject([{ id: 'fc_1', status: 'incomplete', arguments: '' }])
  })

  it('trap 88: gives a contents caller no call that is not whole, and a chat caller no reason to finish', () => {
    expect(JSON.stringify(told('chat', 'contents', HALF))).not.toContain('functionCall')
    const chunks = told('chat', 'chat', HALF)
    expect(chunks.at(-1).error).toBeDefined()
    expect(chunks.flatMap(({ choices = [] }) => choices).every((choice: Wire) => choice.finish_reason === null)).toBe(
      true,
    )
  })

  it.each(['chat', 'contents', 'messages', 'responses'])(
    'trap 88: has the words of a refusal, whole or not, at a caller of %s',
    to => {
      const refusal = chunk({ role: 'assistant', refusal: 'I will not.' })
      for (const wire of [[refusal], [refusal, piece(0, '{"path"', 'write')]])
        expect(JSON.stringify(told('chat', to, wire))).toContain('I will not.')
    },
  )

  it('trap 88: has what another part overtakes at a caller of contents', () => {
    const at = (content_index: number) => ({ item_id: 'msg_1', output_index: 0, content_index })
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 }
    const events = told('responses', 'contents', [
      eventOf({ type: 'response.output_text.delta', ...at(0), delta: 'It is.' }),
      eventOf({ type: 'response.output_text.annotation.added', ...at(0), annotation }),
      eventOf({ type: 'response.refusal.delta', ...at(1), delta: 'I will not.' }),
      eventOf({ type: 'response.output_text.delta', ...at(2), delta: 'Or so.' }),
    ])
    for (const said of ['It is.', 'https://a.example', 'I will not.', 'Or so.'])
      expect(JSON.stringify(events)).toContain(said)
  })

  it.each(['chat', 'contents', 'messages', 'responses'])(
    'trap 82: has the citations of a text, whole or not, at a caller of %s',
    to => {
      const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 }
      const cited = chunk({
        role: 'assistant',
        content: 'It is.',
        annotations: [{ type: 'url_citation', url_citation }],
      })
      for (const wire of [[cited], [cited, piece(0, '{"path"', 'write')]])
        expect(JSON.stringify(told('chat', to, wire))).toContain('https://a.example')
    },
  )
})

describe('calls made at once', () => {
  const CALLS = [piece(0, '{"a":', 'f'), piece(0, '1}'), piece(1, '', 'g'), piece(1, '{"b":'), piece(1, '2}')]

  it('trap 96: are told as they come, the first done before the second is added', () => {
    const stream = machine('chat', 'responses')
    const steps = CALLS.map(wire => types(parsed(stream.push(wire))))
    expect(steps[2]).toEqual([
      ...['response.function_call_arguments.done', 'response.output_item.done', 'response.output_item.added'],
    ])
    expect(steps[3]).toEqual(['response.function_call_arguments.delta'])
  })

  it('trap 96: a text is done before the call behind it is added', () => {
    const events = told('chat', 'responses', [chunk({ content: 'Hi' }), ...CALLS, chunk({}, 'tool_calls'), DONE])
    const items = events.filter(({ type }) => type?.startsWith('response.output_item.'))
    expect(items.map(({ type, output_index }) => [type.slice(21), output_index])).toEqual([
      ...[
        ['added', 0],
        ['done', 0],
        ['added', 1],
        ['done', 1],
        ['added', 2],
        ['done', 2],
      ],
    ])
  })

  it('trap 3: a call whose arguments are not whole waits for the rest of them', () => {
    const mixed = [piece(0, '{"a":', 'f'), piece(1, '{"b":', 'g'), piece(0, '1}'), piece(1, '2}')]
    const result = fold(read('chat', [...mixed, chunk({}, 'tool_calls'), DONE]))
    expect(result.candidates[0]!.content).toMatchObject([{ arguments: '{"a":1}' }, { arguments: '{"b":2}' }])
  })
})

describe('a stream that ends without a word', () => {
  it('trap 103: a contents stream that ends behind a call is whole', () => {
    const call = { functionCall: { name: 'f', args: { a: 1 } } }
    const wire = [answer([{ text: 'So.' }]), answer([call])]
    const events = told('contents', 'messages', wire)
    expect(events.at(-2).delta.stop_reason).toBe('tool_use')
    expect(events.at(-1).type).toBe('message_stop')
    const cut = told('contents', 'messages', [...wire, answer([{ text: 'And' }])])
    expect(cut.at(-1).type).toBe('error')
  })

  it('trap 103: chat calls behind which [DONE] stands without a finish are whole', () => {
    const wire = [piece(0, '{"a":1}', 'f'), DONE]
    expect(told('chat', 'messages', wire).at(-2).delta.stop_reason).toBe('tool_use')
    expect(told('chat', 'contents', wire).at(-1).candidates[0].finishReason).toBe('STOP')
    expect(told('chat', 'responses', wire).at(-2).type).toBe('response.completed')
  })

  it('trap 103: a message_delta without usage, and no message_stop', () => {
    const wire = [
      eventOf({
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
      }),
      eventOf({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      eventOf({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      eventOf({ type: 'content_block_stop', index: 0 }),
      eventOf({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } }),
    ]
    const own = told('messages', 'messages', wire)
    expect(types(own).slice(-2)).toEqual(['message_delta', 'message_stop'])
    expect(own.at(-2).usage).toBeDefined()
    expect(told('messages', 'chat', wire).at(-1)).toBe('[DONE]')
    expect(told('messages', 'responses', wire).at(-2).type).toBe('response.completed')
  })

  it('trap 103: every stream told to a messages caller counts tokens and stops', () => {
    for (const [from, wire] of [
      ['chat', [chunk({ content: 'Hi' }, 'stop'), DONE]],
      ['contents', [answer([{ text: 'Hi' }], { finishReason: 'STOP' })]],
      ['responses', [eventOf({ type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } })]],
    ] as const) {
      const events = told(from, 'messages', wire)
      expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: { output_tokens: 0 } })
      expect(events.at(-1)).toEqual({ type: 'message_stop' })
    }
  })
})
