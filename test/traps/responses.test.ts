import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { responses as writer } from '../../src/egress/responses/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { responses as reader } from '../../src/ingress/responses/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { assistant, text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { partsOf } from '../builders/results.ts'
import { namedEvent } from '../builders/streams.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Traps of responses, each by its number. These tests use only reader and writer. */
/** Nothing is to be stored, as in all other tests. Everything that is written was requested. */
const write = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
  writer.request!({ ...REQUEST, state: { store: false }, ...more }, { ...FOREIGN, dialect })
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): any => write(more, dialect).wire.body
const reasons = (more: Partial<CanonicalRequest>): string[] => write(more).losses.map(loss => loss.reason)
const read = (more: JsonObject): CanonicalRequest =>
  reader.request!({ path: '/v1/responses', query: {}, headers: {}, body: { model: 'm', ...more } })
const native = (asked: CanonicalRequest) => writer.request!(asked, NATIVE)
const call = (id: string, said = '{}'): Part => ({ type: 'tool-call', id, name: 'f', arguments: said })
const tool = (id: string, ...content: Part[]): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content }],
})

const answer = (content: readonly Part[], more: Partial<CanonicalResult> = {}): CanonicalResult => ({
  ...{ id: 'chatcmpl-1', model: 'm', createdAt: 7 },
  candidates: [{ content, finish: { reason: 'stop' } }],
  ...more,
})
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const written = (result: CanonicalResult, asked = REQUEST): any => writer.result!(result, asked).wire.body
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const streamed = (events: Iterable<CanonicalEvent>): any[] =>
  drain(writer.events!(REQUEST), events).map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
const types = (events: readonly { type?: string }[]): (string | undefined)[] => events.map(({ type }) => type)
const hear = (...events: { data: string }[]): CanonicalResult => fold(drain(reader.events!(REQUEST), events))
const ANSWER = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
const created = namedEvent('response.created', { response: ANSWER })
const spoken = (said: string): JsonObject => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: said, annotations: [], logprobs: [] }],
})
const completed = (output: JsonObject[], more: JsonObject = {}) =>
  namedEvent('response.completed', { response: { ...ANSWER, status: 'completed', output, ...more } })
const added = (item: JsonObject, output_index = 0) => namedEvent('response.output_item.added', { output_index, item })
const done = (item: JsonObject, output_index = 0) => namedEvent('response.output_item.done', { output_index, item })
const textDelta = (delta: string, item_id = 'msg_1') =>
  namedEvent('response.output_text.delta', { item_id, output_index: 0, content_index: 0, delta, logprobs: [] })

const part = (index: number) => ({ candidate: 0, part: index })
const start = (index: number, of: Part): CanonicalEvent => ({ type: 'part-start', at: part(index), part: of })
const grow = (index: number, append: string): CanonicalEvent => ({ type: 'part-delta', at: part(index), append })
const stop = (index: number): CanonicalEvent => ({ type: 'part-end', at: part(index) })
const HEAD: CanonicalEvent = { type: 'result-start', id: 'r1', model: 'm', createdAt: 1 }
const TAIL: CanonicalEvent[] = [
  { type: 'candidate-end', candidate: 0, finish: { reason: 'tool-calls' } },
  { type: 'result-end' },
]

describe('streams', () => {
  it('traps 3, 96: calls whose pieces interleave are items one after another', () => {
    const pieces = [start(0, call('a', '')), start(1, call('b', '')), grow(1, '{"y":2}'), grow(0, '{"x":1}')]
    const events = streamed([HEAD, ...pieces, stop(1), stop(0), ...TAIL])
    expect(events.at(-2).response.output).toMatchObject([
      { call_id: 'a', arguments: '{"x":1}' },
      { call_id: 'b', arguments: '{"y":2}' },
    ])
    const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta')
    expect(deltas.map(({ output_index }) => output_index)).toEqual([0, 1])
  })

  it('trap 8: a call without arguments says {} exactly once', () => {
    const events = streamed([HEAD, start(0, call('a', '')), stop(0), ...TAIL])
    const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta')
    expect(deltas.map(({ delta }) => delta)).toEqual(['{}'])
    expect(events.find(({ type }) => type === 'response.function_call_arguments.done').arguments).toBe('{}')
    expect(written(answer([call('a', '')])).output[0].arguments).toBe('{}')
  })

  it('trap 10: the terminal response is put together from all items', () => {
    const result = answer([{ type: 'reasoning', text: 'Hm.' }, text('Hi'), call('a')])
    const terminal = streamed(unfold(result)).at(-2)
    expect(terminal.type).toBe('response.completed')
    expect(types(terminal.response.output)).toEqual(['reasoning', 'message', 'function_call'])
  })

  it('trap 10: an item that only the terminal response tells is not lost', () => {
    const item = {
      id: 'fc_1',
      type: 'function_call',
      call_id: 'a',
      name: 'f',
      arguments: '{"x":1}',
      status: 'completed',
    }
    expect(partsOf(hear(created, completed([item])))).toMatchObject([
      { type: 'tool-call', id: 'a', arguments: '{"x":1}' },
    ])
  })

  it('trap 11: texts of done events add nothing', () => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const got = hear(
      created,
      added({ ...spoken(''), content: [] }),
      textDelta('Hi'),
      namedEvent('response.output_text.done', { ...at, text: 'Hi', logprobs: [] }),
      namedEvent('response.content_part.done', { ...at, part: { type: 'output_text', text: 'Hi', annotations: [] } }),
      done(spoken('Hi')),
      completed([spoken('Hi')]),
    )
    expect(partsOf(got)).toMatchObject([{ type: 'text', text: 'Hi' }])
  })

  it('trap 11: a text that only its done event tells is told once', () => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const silent = hear(
      created,
      namedEvent('response.output_text.done', { ...at, text: 'Hi' }),
      completed([spoken('Hi')]),
    )
    expect(partsOf(silent)).toMatchObject([{ type: 'text', text: 'Hi' }])
  })

  it('trap 67: a stream that breaks off ends failed, once, for reader and writer', () => {
    const got = drain(reader.events!(REQUEST), [created, textDelta('Hi')])
    expect(got.at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream-failed' } })
    expect(got.at(-2)).toMatchObject({ type: 'part-delta' })
    const machine = writer.events!(REQUEST)
    const events = [HEAD, start(0, text('')), grow(0, 'Hi')].flatMap(event => machine.push(event))
    const end = machine.end().map(({ event }) => event)
    expect(end).toEqual(['response.failed', undefined])
    expect(events.length + end.length).toBe(7)
    expect(machine.push({ type: 'result-end' })).toEqual([])
    expect(machine.end()).toEqual([])
  })

  it('trap 68: [DONE] is no fault, its absence neither; every answer a caller gets ends with it', () => {
    const said = [created, completed([spoken('Hi')])]
    expect(hear(...said, { data: '[DONE]' })).toEqual(hear(...said))
    expect(streamed(unfold(answer([text('Hi')]))).at(-1)).toBe('[DONE]')
    const own = drain(writer.events!(REQUEST), drain(reader.events!(REQUEST), said))
    expect(own.at(-1)!.event).toBe('response.completed')
    const [head, ...rest] = drain(reader.events!(REQUEST), said)
    const told = drain(writer.events!(REQUEST), [{ ...head, complete: true } as CanonicalEvent, ...rest])
    expect(told.at(-1)!.data).toBe('[DONE]')
  })

  it('trap 69: events are numbered from 0 and each item has one id', () => {
    const events = streamed(unfold(answer([text('Hi'), call('a')]))).slice(0, -1)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    const ids = (index: number) =>
      new Set(events.filter(one => one.output_index === index).map(one => one.item_id ?? one.item.id))
    expect([ids(0).size, ids(1).size]).toEqual([1, 1])
  })

  it('trap 69: an upstream that changes ids on the way is understood by places', () => {
    const got = hear(
      created,
      added({ ...spoken(''), id: 'msg_x', content: [] }),
      textDelta('Hel', 'msg_y'),
      textDelta('lo', 'msg_z'),
      done({ ...spoken('Hello'), id: 'msg_w' }),
      completed([spoken('Hello')]),
    )
    expect(partsOf(got)).toMatchObject([{ type: 'text', text: 'Hello' }])
    expect(partsOf(got)).toHaveLength(1)
  })

  it('trap 69: an upstream that names no items, nor their places, is understood as it speaks', () => {
    const unnamed = (type: string, fields: JsonObject) => namedEvent(type, fields)
    const call = (name: string, said: string): JsonObject => ({ type: 'function_call', name, arguments: said })
    const calls = ['f', 'g'].flatMap(name => [
      unnamed('response.output_item.added', { item: call(name, '') }),
      unnamed('response.function_call_arguments.delta', { delta: '{}' }),
      unnamed('response.output_item.done', { item: call(name, '{}') }),
    ])
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
    const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
    const said = [
      created,
      unnamed('response.output_item.added', { item: { type: 'reasoning', summary: [] } }),
      unnamed('response.reasoning_summary_text.delta', { delta: 'Hm.' }),
      unnamed('response.output_item.done', { item: thought }),
      unnamed('response.output_text.delta', { delta: 'H' }),
      unnamed('response.output_text.delta', { delta: 'i' }),
      unnamed('response.output_text.done', { text: 'Hi' }),
      unnamed('response.output_item.done', { item: message }),
      ...calls,
    ]
    const output = [thought, message, call('f', '{}'), call('g', '{}')]
    const got = [{ text: 'Hm.' }, { text: 'Hi' }, { name: 'f', arguments: '{}' }, { name: 'g', arguments: '{}' }]
    expect(partsOf(hear(...said, completed(output)))).toMatchObject(got)
    expect(partsOf(hear(...said, completed(output)))).toHaveLength(4)
    const deltas = drain(reader.events!(REQUEST), said).filter(({ type }) => type === 'part-delta')
    expect(deltas.map(one => 'append' in one && one.append)).toEqual(['Hm.', 'H', 'i', '{}', '{}'])
  })

  it('trap 74: bytes cut anywhere, carriage returns and all, give the same answer', () => {
    const said = [created, textDelta('Grüße 🌍\u2028'), completed([spoken('Grüße 🌍\u2028')])]
    const bytes = Buffer.from(
      said.map(({ event, data }) => `event:${event}\r\ndata:${data}\r\n\r\n`).join(': ping\r\n\r\n'),
    )
    const parser = eventParser()
    const heard = [...bytes].flatMap(byte => parser.push(Uint8Array.of(byte)))
    expect(hear(...heard, ...parser.end())).toEqual(hear(...said))
  })

  it('trap 75: an error in a stream is an error, flat or nested, and nothing follows it', () => {
    const flat = namedEvent('error', { code: 'rate_limit_exceeded', message: 'Slow down.', param: null })
    const nested = namedEvent('error', { error: { type: 'rate_limit_error', message: 'Slow down.' } })
    const failed = namedEvent('response.failed', {
      response: { ...ANSWER, status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
    })
    for (const fault of [flat, nested, failed]) {
      const got = drain(reader.events!(REQUEST), [created, fault, completed([spoken('Hi')])])
      expect(got.at(-1)).toMatchObject({ type: 'error', error: { kind: 'rate-limited', message: 'Slow down.' } })
    }
    const events = streamed([HEAD, { type: 'error', error: { kind: 'overloaded', message: 'Busy.' } }, ...TAIL])
    expect(types(events.slice(0, -1))).toEqual(['response.created', 'response.in_progress', 'response.failed'])
    expect(events[2].response).toMatchObject({
      status: 'failed',
      error: { code: 'server_is_overloaded', message: 'Busy.' },
    })
  })

  it('an event nobody else knows goes on to callers of the same format, and to no others', () => {
    const searching = namedEvent('response.web_search_call.searching', { item_id: 'ws_1', output_index: 0 })
    const item = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } }
    const heard = drain(reader.events!(REQUEST), [created, added(item), searching, done(item), completed([item])])
    const types = drain(writer.events!(REQUEST), heard).map(({ event }) => event)
    expect(types.filter(type => type === 'response.web_search_call.searching')).toHaveLength(1)
    expect(drain(WRITERS['chat']!.events!(REQUEST), heard).join('')).not.toContain('searching')
  })
})

describe('ends', () => {
  it('trap 13: calls are why a complete answer stopped', () => {
    const item = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
    const whole = reader.result!(
      { status: 200, headers: {}, body: { ...ANSWER, status: 'completed', output: [item] } },
      REQUEST,
    )
    expect(whole.candidates[0]!.finish!.reason).toBe('tool-calls')
    expect(hear(created, completed([item])).candidates[0]!.finish!.reason).toBe('tool-calls')
  })

  it('trap 14: what is incomplete says why, with its usage, and failed is an error', () => {
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
    const cut = { ...ANSWER, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage }
    const got = hear(created, namedEvent('response.incomplete', { response: { ...cut, output: [spoken('Hi')] } }))
    expect(got.candidates[0]!.finish!.reason).toBe('length')
    expect(got.usage).toMatchObject({ input: 1, output: 2 })
    const back = written(
      answer([text('Hi')], { candidates: [{ content: [text('Hi')], finish: { reason: 'length' } }] }),
    )
    expect(back).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(back.output[0].status).toBe('incomplete')
  })

  it('trap 18: stop sequences have no place, and their loss is told', () => {
    expect(reasons({ sampling: { stop: ['END'], seed: 1, topK: 2 } })).toEqual([
      'no-top-k',
      'no-seed',
      'no-stop-sequences',
    ])
  })

  it('trap 25: usage is told in full', () => {
    const { usage } = written(answer([], { usage: { input: 5, output: 7, cacheRead: 2 } }))
    expect(usage).toEqual({
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 12,
    })
  })

  it('trap 72: one malformed call harms none beside it', () => {
    const { output, status } = written(answer([call('a', '{"x":'), call('b', '{"y":1}')]))
    expect(status).toBe('completed')
    expect(output).toMatchObject([{ arguments: '{"x":' }, { arguments: '{"y":1}' }])
    const mixed = [
      { type: 'function_call', call_id: 'a' },
      { type: 'function_call', call_id: 'b', name: 'f' },
    ]
    const got = reader.result!(
      { status: 200, headers: {}, body: { ...ANSWER, status: 'completed', output: mixed } },
      REQUEST,
    )
    expect(partsOf(got)).toMatchObject([{ type: 'opaque' }, { type: 'tool-call', id: 'b' }])
  })

  it('trap 77: an error under status 200 is an error', () => {
    const body = { error: { message: 'No.', type: 'server_error', code: null } }
    expect(() => reader.result!({ status: 200, headers: {}, body }, REQUEST)).toThrow(GatewayError)
  })
})

describe('reasoning', () => {
  const proof = (format: string) => ({ format, value: 'proof' })

  it('trap 27: a hidden thought of another format comes back as it was', () => {
    const hidden: Part = { type: 'reasoning', text: '', redacted: true, signature: proof('messages') }
    const [item] = written(answer([hidden])).output
    expect(item.summary).toEqual([])
    const [message] = read({ input: [item] }).messages
    expect(message!.content[0]).toMatchObject(hidden)
  })

  it('trap 30: upstreams receive only signatures of this format, also from native callers', () => {
    const thought = (format: string): Part => ({ type: 'reasoning', text: 'Hm.', signature: proof(format) })
    const { wire, losses } = write({ messages: [assistant(thought('messages'), thought('responses'), text('Hi'))] })
    expect(types(wire.body['input'] as JsonObject[])).toEqual(['reasoning', 'message'])
    expect(losses).toMatchObject([{ kind: 'dropped', path: ['messages', 0, 'content', 0] }])
    const [item] = written(answer([thought('contents'), text('Hi')])).output
    const again = native(read({ input: [item, spoken('Hi')] }))
    expect(types(again.wire.body['input'] as JsonObject[])).toEqual(['message'])
    expect(again.losses).toHaveLength(1)
  })

  it('trap 30: reasoning of another format without a signature is recognised by its id', () => {
    const [item] = written(answer([{ type: 'reasoning', text: 'Hm.' }, text('Hi')])).output
    expect(native(read({ input: [item, { role: 'user', content: 'Go on.' }] })).wire.body['input']).toHaveLength(1)
  })

  it('trap 34: no ids go to an upstream that never gave them, and a thought stays before its call', () => {
    const input = [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'proof' },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', id: 'out_1', call_id: 'a', output: '1' },
    ]
    const { wire } = writer.request!(read({ input }), FOREIGN)
    expect(types(wire.body['input'] as JsonObject[])).toEqual(['reasoning', 'function_call', 'function_call_output'])
    expect(JSON.stringify(wire.body)).not.toMatch(/rs_1|fc_1|out_1/)
  })

  it('trap 26: signed reasoning returns to its issuer through a caller of this format', () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.', signature: proof('messages') }
    const { output } = written(answer([thought, call('a')]))
    expect(read({ input: output }).messages[0]!.content).toMatchObject([thought, { type: 'tool-call', id: 'a' }])
  })

  it('signatures are requested if a caller of another format enables reasoning', () => {
    expect(body({ reasoning: { effort: 'high', show: true } })).toMatchObject({
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    })
    expect(body({ reasoning: { effort: 'none' } }).include).toBeUndefined()
    expect(body({ reasoning: { effort: 'high' } }, { stateless: true }).include).toBeUndefined()
  })
})

it('what nobody asked to be kept is not stored, for callers of formats that keep nothing', () => {
  const { wire, losses } = writer.request!(REQUEST, FOREIGN)
  expect(wire.body).toMatchObject({ store: false })
  expect(losses).toMatchObject([{ kind: 'added', reason: 'minted-no-storage' }])
  expect(native(read({ input: 'Hi' })).wire.body).not.toHaveProperty('store')
})

describe('requests', () => {
  it('trap 42: system and developer turns in the middle keep their role and place', () => {
    const messages: Message[] = [
      { role: 'system', content: [text('Rules.')] },
      user(text('Hi')),
      { role: 'developer', content: [text('Be brief.')] },
    ]
    const { instructions, input } = body({ messages })
    expect(instructions).toBe('Rules.')
    expect(input).toMatchObject([{ role: 'user' }, { role: 'developer', content: 'Be brief.' }])
  })

  it('trap 46: ids an upstream would refuse are changed alike in call and result', () => {
    const id = `functions.f:0 ${'x'.repeat(80)}`
    const { input } = body({ messages: [assistant(call(id)), tool(id, text('1'))] })
    expect(input[0].call_id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(input[1].call_id).toBe(input[0].call_id)
  })

  it('trap 47: tool names are made legal, and the way back is known', () => {
    const { wire, renamed } = write({ tools: [{ type: 'function', name: 'mcp.server/tool' }] })
    const [made] = wire.body['tools'] as { name: string }[]
    expect(made!.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(renamed!.get(made!.name)).toEqual({ name: 'mcp.server/tool' })
  })

  it('trap 48: images stay in a tool’s answer', () => {
    const image: Part = {
      type: 'media',
      kind: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
    }
    const { input } = body({ messages: [assistant(call('a')), tool('a', text('Look:'), image)] })
    expect(types(input[1].output)).toEqual(['input_text', 'input_image'])
  })

  it('trap 49: a failed call says so in words', () => {
    const failed: Part = { type: 'tool-result', id: 'a', content: [text('no such file')], failed: true }
    const messages: Message[] = [assistant(call('a')), { role: 'tool', content: [failed] }]
    expect(body({ messages }).input[1].output).toBe('Error: no such file')
    expect(reasons({ messages })).toContain('no-failure-flag')
  })

  it('trap 51: files go in by bytes, address or own id; another’s id is a loss', () => {
    const file = (source: (Part & { type: 'media' })['source']): Part => ({ type: 'media', kind: 'file', source })
    const pdf = { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' } as const
    const own = { type: 'file-id', format: 'responses', id: 'file_1' } as const
    const { input } = body({ messages: [user(file(pdf), file({ type: 'url', url: 'https://a.b/c.pdf' }), file(own))] })
    expect(input[0].content).toEqual([
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'file' },
      { type: 'input_file', file_url: 'https://a.b/c.pdf' },
      { type: 'input_file', file_id: 'file_1' },
    ])
    expect(reasons({ messages: [user(file({ ...own, format: 'messages' }))] })).toContain('no-such-file-ids')
  })

  it('trap 53: tools and their choice are written in this format’s shape', () => {
    const parameters = { type: 'object', properties: {} }
    const { tools, tool_choice } = body({
      tools: [{ type: 'function', name: 'f', parameters }],
      toolChoice: { mode: 'required', only: ['f'] },
    })
    expect(tools).toEqual([{ type: 'function', name: 'f', parameters, strict: false }])
    expect(tool_choice).toEqual({ type: 'function', name: 'f' })
  })

  it('trap 56: nobody gets a strict tool who did not ask for one', () => {
    const strict = (asked?: boolean) =>
      body({ tools: [{ type: 'function', name: 'f', ...(asked === undefined ? {} : { strict: asked }) }] }).tools[0]
        .strict
    expect([strict(), strict(false), strict(true)]).toEqual([false, false, true])
  })

  it('trap 58: a shape is asked for natively', () => {
    const schema = { type: 'object', properties: {} }
    const { text } = body({ output: { text: { shape: 'schema', schema, name: 'it', strict: true } } })
    expect(text).toEqual({ format: { type: 'json_schema', name: 'it', schema, strict: true } })
  })

  it('trap 60: more than one candidate is a told loss', () => {
    expect(write({ output: { candidates: 3 } }).losses).toMatchObject([
      { path: ['output', 'candidates'], kind: 'dropped' },
    ])
  })

  it('trap 61: likely tokens are asked for and told', () => {
    expect(body({ sampling: { logprobs: 2 } })).toMatchObject({
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
    })
    const token = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top: [] }
    const logged = answer([text('Hi')], { candidates: [{ content: [text('Hi')], logprobs: [token] }] })
    const [told] = written(logged).output[0].content[0].logprobs
    expect(told).toEqual({ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] })
  })

  it('trap 63: a cache marker goes where the upstream takes one, and is a told loss elsewhere', () => {
    const messages = [user({ type: 'text', text: 'Long.', cache: { ttl: '12h' } })]
    expect(body({ messages }, { cache: 'prompt_cache_breakpoint' }).input[0].content[0]).toMatchObject({
      prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' },
    })
    expect(reasons({ messages })).toEqual(['no-cache-markers-here'])
  })

  it('trap 63: the marker of a result, where agents set it, stands on its last text', () => {
    const read: Part = { type: 'tool-result', id: 'a', content: [{ type: 'text', text: 'Read.' }], cache: {} }
    const call: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }
    const messages = [
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [read] },
    ] as const
    expect(body({ messages }, { cache: 'prompt_cache_breakpoint' }).input[1].output).toEqual([
      { type: 'input_text', text: 'Read.', prompt_cache_breakpoint: { mode: 'explicit' } },
    ])
    expect(write({ messages }).losses).toContainEqual({
      kind: 'dropped',
      path: ['messages', 1, 'content', 0, 'cache'],
      reason: 'no-cache-markers-here',
    })
  })

  it('trap 65: custom tools and groups go through, or are wrapped and flattened for upstreams without them', () => {
    const input = [
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
      { type: 'function_call', call_id: 'b', name: 'send', namespace: 'mail', arguments: '{}' },
    ]
    const tools = [
      { type: 'custom', name: 'apply_patch' },
      { type: 'namespace', name: 'mail', description: 'Mail.', tools: [{ type: 'function', name: 'send' }] },
    ]
    const asked = read({ input, tools })
    expect(native(asked).wire.body).toEqual({ model: 'm', input, tools })
    const { wire, renamed } = writer.request!(asked, {
      native: false,
      dialect: { custom_tools: false, stateless: true },
    })
    expect(wire.body['tools']).toMatchObject([
      { type: 'function', name: 'apply_patch' },
      { type: 'function', name: 'mail__send' },
    ])
    expect(wire.body['input']).toMatchObject([{ arguments: '{"input":"*** Begin"}' }, {}, { name: 'mail__send' }])
    expect(renamed!.get('mail__send')).toEqual({ name: 'send', namespace: 'mail' })
  })

  it('trap 66: tools the upstream runs itself are its own, and never functions without a name', () => {
    const tools = read({ input: 'x', tools: [{ type: 'web_search_preview' }, { type: 'local_shell' }] }).tools!
    expect(tools).toMatchObject([{ type: 'hosted', kind: 'web-search' }, { type: 'opaque' }])
    expect(body({ tools: [{ type: 'hosted', kind: 'code-execution' }] }).tools).toEqual([
      { type: 'code_interpreter', container: { type: 'auto' } },
    ])
    expect(reasons({ tools: [{ type: 'hosted', kind: 'web-fetch' }] })).toContain('no-such-hosted-tool')
  })

  it('trap 71: input is a text, an item or a list; a call may carry a role, a message needs no type', () => {
    const said = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
    expect(read({ input: 'Hi' }).messages).toMatchObject(said)
    expect(read({ input: { role: 'user', content: 'Hi' } }).messages).toMatchObject(said)
    expect(read({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] }).messages).toMatchObject(
      said,
    )
    const stray = { type: 'function_call', role: 'assistant', call_id: 'a', name: 'f', arguments: '{}' }
    expect(read({ input: [stray] }).messages).toMatchObject([{ role: 'assistant', content: [{ id: 'a' }] }])
    const compacted = { type: 'compaction', encrypted_content: 'x' }
    expect(native(read({ input: [compacted] })).wire.body['input']).toEqual([compacted])
  })
})

describe('answers of other formats', () => {
  it('trap 64: a caller of this format gets a whole response object with what it asked', () => {
    const asked = read({
      input: 'Hi',
      instructions: 'Be kind.',
      tools: [{ type: 'function', name: 'f' }],
      temperature: 0.5,
      truncation: 'auto',
      ...{ tool_choice: 'required', text: { verbosity: 'low' }, reasoning: { effort: 'high' }, conversation: 'conv_1' },
    })
    const got = written(answer([text('Hello.')]), asked)
    expect(got).toMatchObject({
      ...{ id: 'resp_chatcmpl-1', object: 'response', status: 'completed', error: null, incomplete_details: null },
      ...{ instructions: 'Be kind.', temperature: 0.5, truncation: 'auto', store: true, tool_choice: 'required' },
      ...{ text: { format: { type: 'text' }, verbosity: 'low' }, reasoning: { effort: 'high', summary: null } },
      conversation: { id: 'conv_1' },
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: false }],
    })
    const required = [
      ...['completed_at', 'previous_response_id', 'parallel_tool_calls', 'text', 'top_p', 'presence_penalty'],
      ...[
        'frequency_penalty',
        'top_logprobs',
        'reasoning',
        'usage',
        'max_output_tokens',
        'max_tool_calls',
        'background',
      ],
      ...['service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key', 'created_at', 'model'],
    ]
    for (const field of required) expect(got).toHaveProperty(field)
  })

  it('trap 67: an answer of every other format ends in a stream of this one', () => {
    for (const format of Object.keys(READERS).filter(format => READERS[format]!.events !== undefined)) {
      const events = streamed(drain(READERS[format]!.events!(REQUEST), []))
      expect(events.filter(one => /completed|failed|incomplete/.test(one.type))).toHaveLength(1)
    }
  })
})
