import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../src/canonical/result.ts'
import { enclose } from '../../src/canonical/signature.ts'
import type { FunctionTool } from '../../src/canonical/tool.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { messages as writer } from '../../src/egress/messages/index.ts'
import { FOREIGN, NATIVE } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'

/* The traps that concern messages, each by its number. */

const BASE: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }
const user = (...content: Part[]): Message => ({ role: 'user', content })
const assistant = (...content: Part[]): Message => ({ role: 'assistant', content })
const tool = (...content: Part[]): Message => ({ role: 'tool', content })
const text = (words: string): Part => ({ type: 'text', text: words })
const call = (id: string, name = 'f', args = '{}'): Part => ({ type: 'tool-call', id, name, arguments: args })
const answerOf = (id: string, ...content: Part[]): Part => ({ type: 'tool-result', id, content })
const thought = (value: string | undefined, format = 'messages'): Part => ({
  type: 'reasoning',
  text: 'so',
  ...(value === undefined ? {} : { signature: { format, value } }),
})
const FUNCTION: FunctionTool = { type: 'function', name: 'f', parameters: { type: 'object' } }

const asked = (more: Partial<CanonicalRequest>): CanonicalRequest => ({
  ...BASE,
  messages: [user(text('hi'))],
  ...more,
})
const write = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
  writer.request!(asked(more), { ...FOREIGN, dialect })
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): any => write(more, dialect).wire.body
const lost = (more: Partial<CanonicalRequest>): string[] => write(more).losses.map(loss => loss.reason)
const wire = (body: JsonObject, headers: Readonly<Record<string, string>> = {}) => ({
  path: '/v1/messages',
  query: {},
  headers: { 'anthropic-version': '2023-06-01', ...headers },
  body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body },
})
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const native = (more: JsonObject, dialect: JsonObject = {}): any =>
  writer.request!(reader.request!(wire(more)), { ...NATIVE, dialect }).wire.body

const result = (content: Part[], more: Partial<CanonicalResult> = {}): CanonicalResult => ({
  ...{ id: 'r1', model: 'm' },
  candidates: [{ content, finish: { reason: 'stop' } }],
  ...more,
})
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const whole = (answer: CanonicalResult): any => writer.result!(answer, BASE).wire.body
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const streamOf = (events: Iterable<CanonicalEvent>): any[] =>
  drain(writer.events!(BASE), events).map(({ data }) => JSON.parse(data))
const chatChunks = (...deltas: JsonObject[]) => [
  ...deltas.map(({ finish_reason = null, ...delta }) => ({
    data: JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, delta, finish_reason }] }),
  })),
  { data: '[DONE]' },
]
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const fromChat = (...deltas: JsonObject[]): any[] =>
  drain(chain(READERS['chat']!.events!(BASE), writer.events!(BASE)), chatChunks(...deltas)).map(({ data }) =>
    JSON.parse(data),
  )
const read = (body: JsonObject): CanonicalResult =>
  reader.result!({ status: 200, headers: {}, body: { id: 'm1', content: [], ...body } }, BASE)
const named = (type: string, more: JsonObject = {}) => ({ event: type, data: JSON.stringify({ type, ...more }) })

/** Blocks open and close one after another, numbered in order, and the end comes once. */
function lifeCycle(events: readonly { type: string; index?: number }[]): void {
  const letters: Readonly<Record<string, string>> = {
    ...{ message_start: 'S', content_block_start: 'B', content_block_delta: 'D', content_block_stop: 'E' },
    ...{ message_delta: 'M', message_stop: 'T', error: 'X' },
  }
  expect(events.map(({ type }) => letters[type] ?? '?').join('')).toMatch(/^S?(BD*E)*(MT|X)$/)
  let open = -1
  for (const { type, index } of events)
    if (type === 'content_block_start') expect(index).toBe(++open)
    else if (index !== undefined) expect(index).toBe(open)
}

describe('streams', () => {
  const piece = (index: number, id: string | undefined, args: string) => ({
    index,
    ...(id === undefined ? {} : { id, type: 'function' }),
    function: { ...(id === undefined ? {} : { name: `f_${id}` }), arguments: args },
  })

  it('trap 1: parallel calls of a chat upstream are blocks of their own', () => {
    const events = fromChat(
      { tool_calls: [piece(0, 'a', '{"x":1}')] },
      { tool_calls: [piece(1, 'b', '{"y":2}')] },
      { finish_reason: 'tool_calls' },
    )
    lifeCycle(events)
    const calls = events.filter(event => event.type === 'content_block_start').map(event => event.content_block)
    expect(calls.map(({ id, name }) => [id, name])).toEqual([
      ['a', 'f_a'],
      ['b', 'f_b'],
    ])
  })

  it('trap 3: interleaved pieces of calls wait for the block before them', () => {
    const events = fromChat(
      { tool_calls: [piece(0, 'a', '{"x"')] },
      { tool_calls: [piece(1, 'b', '{"y"')] },
      { tool_calls: [piece(0, undefined, ':1}')] },
      { tool_calls: [piece(1, undefined, ':2}')] },
      { finish_reason: 'tool_calls' },
    )
    lifeCycle(events)
    const args = ['', '']
    for (const { type, index, delta } of events) if (type === 'content_block_delta') args[index] += delta.partial_json
    expect(args).toEqual(['{"x":1}', '{"y":2}'])
  })

  it('trap 4: text, thoughts and calls follow each other with rising numbers', () => {
    lifeCycle(
      fromChat(
        { reasoning_content: 'hm' },
        { content: 'a' },
        { reasoning_content: 'hm hm' },
        { content: 'b' },
        { tool_calls: [piece(0, 'a', '')] },
        { finish_reason: 'tool_calls' },
      ),
    )
  })

  it('trap 4: an upstream that mixes kinds in one block is read as it meant it', () => {
    const events = drain(reader.events!(BASE), [
      named('message_start', { message: { id: 'm', model: 'm', usage: {} } }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      named('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }),
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
      named('content_block_stop', { index: 0 }),
      named('message_delta', { delta: { stop_reason: 'end_turn' } }),
      named('message_stop'),
    ])
    const said = fold(events).candidates[0]!.content.map(part => [part.type, (part as { text: string }).text])
    expect(said.filter(([, words]) => words !== '')).toEqual([
      ['reasoning', 'hm'],
      ['text', 'a'],
    ])
  })

  it('trap 8: a call without arguments is an empty object, once', () => {
    const events = fromChat({ tool_calls: [piece(0, 'a', '')] }, { finish_reason: 'tool_calls' })
    const pieces = events.filter(event => event.type === 'content_block_delta').map(event => event.delta.partial_json)
    expect(pieces.join('')).toBe('{}')
    expect(whole(result([call('a', 'f', '')])).content[0].input).toEqual({})
  })

  it('trap 9: a chunk that holds text and the finish loses neither', () => {
    const events = fromChat({ content: 'all', finish_reason: 'stop' })
    expect(JSON.stringify(events)).toContain('"text":"all"')
    expect(events.at(-2)!.delta.stop_reason).toBe('end_turn')
  })

  it('trap 21: usage is whole in the last delta, and there from the start', () => {
    const usage: Usage = { input: 10, cacheRead: 4, cacheWrite: 1, output: 7, reasoning: 2 }
    const events = streamOf(unfold(result([text('a')], { usage })))
    expect(events[0].message.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 })
    expect(events.at(-2).usage).toMatchObject({
      ...{ input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 1, output_tokens: 7 },
      output_tokens_details: { thinking_tokens: 2 },
    })
    const early = streamOf([{ type: 'result-start' }, { type: 'usage', usage }, { type: 'result-end' }])
    expect(early[0].message.usage.input_tokens).toBe(5)
  })

  it('trap 28: a signature has a delta of its own, the last of its block', () => {
    const events = streamOf(unfold(result([thought('sig')])))
    const deltas = events.filter(event => event.type === 'content_block_delta').map(event => event.delta)
    expect(deltas).toEqual([
      { type: 'thinking_delta', thinking: 'so' },
      { type: 'signature_delta', signature: 'sig' },
    ])
  })

  it('trap 75: an error amid the stream closes what is open and ends it, without a finish', () => {
    const error = { kind: 'rate-limited', message: 'Slow down.' } as const
    const [start, begin, grow] = [...unfold(result([text('a')]))]
    const events = streamOf([start!, begin!, grow!, { type: 'error', error }])
    lifeCycle(events)
    expect(events.at(-1)).toEqual({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } })
    const cut = streamOf([start!, begin!, grow!])
    lifeCycle(cut)
    expect(cut.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it('trap 75: an upstream that ends early or breaks has failed', () => {
    for (const events of [[], [named('message_start', { message: { id: 'm' } })], [{ data: '{"type"' }]])
      expect(drain(reader.events!(BASE), events).at(-1)).toMatchObject({
        type: 'error',
        error: { kind: 'upstream-failed' },
      })
    const told = drain(reader.events!(BASE), [
      named('error', { error: { type: 'overloaded_error', message: 'Full.' } }),
    ])
    expect(told.at(-1)).toMatchObject({ type: 'error', error: { kind: 'overloaded', message: 'Full.' } })
  })

  it('trap 82: citations come through a stream', () => {
    const annotations = [{ type: 'citation', url: 'https://a.example', title: 'A', quote: 'word' }] as const
    const events = streamOf(unfold(result([{ type: 'text', text: 'a', annotations }])))
    expect(events.find(event => event.delta?.type === 'citations_delta').delta.citation).toEqual({
      ...{ type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'word' },
      encrypted_index: '',
    })
  })
})

describe('finish', () => {
  const finished = (reason: NonNullable<CanonicalResult['candidates'][0]['finish']>, ...content: Part[]) =>
    whole({ id: 'r', model: 'm', candidates: [{ content, finish: reason }] })

  it('trap 13: calls made are why it stopped', () => {
    expect(finished({ reason: 'stop' }, call('a')).stop_reason).toBe('tool_use')
    const answer = read({ content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }], stop_reason: 'end_turn' })
    expect(answer.candidates[0]!.finish).toMatchObject({ reason: 'tool-calls', raw: 'end_turn' })
  })

  it('trap 14: an answer cut short says so, with its usage', () => {
    const answer = whole({
      ...result([text('a')], { usage: { input: 1, output: 8 } }),
      candidates: [{ content: [], finish: { reason: 'length' } }],
    })
    expect(answer).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 8 } })
  })

  it('trap 15: a broken answer never looks finished', () => {
    expect(finished({ reason: 'error', raw: 'MALFORMED_FUNCTION_CALL' }).stop_reason).toBe('refusal')
  })

  it('trap 16: refusal, pause and a full context are what they are', () => {
    const reasons = ['refusal', 'pause_turn', 'model_context_window_exceeded'].map(
      stop_reason => read({ stop_reason }).candidates[0]!.finish,
    )
    expect(reasons).toMatchObject([
      { reason: 'refused', raw: 'refusal' },
      { reason: 'paused', raw: 'pause_turn' },
      { reason: 'length', raw: 'model_context_window_exceeded' },
    ])
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
    const refused = read({ stop_reason: 'refusal', stop_details })
    expect(refused.candidates[0]!.content).toMatchObject([{ type: 'refusal', text: 'No.' }])
    expect(WRITERS['chat']!.result!(refused, BASE).wire.body['choices']).toMatchObject([
      { message: { refusal: 'No.' }, finish_reason: 'content_filter' },
    ])
  })

  it('trap 17: the stop sequence that was met is told where it is known', () => {
    expect(finished({ reason: 'stop', stopSequence: 'END' })).toMatchObject({
      ...{ stop_reason: 'stop_sequence', stop_sequence: 'END' },
    })
    expect(read({ stop_reason: 'stop_sequence', stop_sequence: 'END' }).candidates[0]!.finish).toMatchObject({
      ...{ reason: 'stop', stopSequence: 'END' },
    })
  })
})

describe('usage', () => {
  it('trap 19: what a cache gave is not counted as input again', () => {
    const { usage } = whole(result([], { usage: { input: 100, cacheRead: 60, output: 5 } }))
    expect(usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 5 })
  })

  it('trap 20: the whole prompt holds what was cached', () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 60, cache_creation_input_tokens: 7, output_tokens: 5 }
    expect(read({ usage }).usage).toMatchObject({ input: 70, cacheRead: 60, cacheWrite: 7, output: 5 })
  })

  it('trap 20: counts of a stream stand in place of earlier ones, and nulls count nothing', () => {
    const events = drain(reader.events!(BASE), [
      named('message_start', {
        message: { id: 'm', usage: { input_tokens: 3, cache_read_input_tokens: 60, output_tokens: 1 } },
      }),
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 9 } }),
      named('message_stop'),
    ])
    expect(fold(events).usage).toMatchObject({ input: 63, cacheRead: 60, output: 9 })
  })
})

describe('reasoning', () => {
  const tools = [FUNCTION]
  const looped = (...before: Part[]) => [
    user(text('hi')),
    assistant(...before, call('a')),
    tool(answerOf('a', text('1'))),
  ]

  it('trap 26: without the signed thought before a call, thinking is off for this request', () => {
    const asked = { messages: looped(thought(undefined)), tools, reasoning: { effort: 'high' } } as const
    expect(body(asked).thinking).toEqual({ type: 'disabled' })
    expect(body(asked).output_config).toBeUndefined()
    expect(lost(asked)).toContain('no-signed-thinking')
    expect(body({ ...asked, messages: looped(thought('sig')) }).thinking).toEqual({ type: 'adaptive' })
    expect(body({ ...asked, messages: looped(thought('sig')) }).messages[1].content[0]).toEqual({
      ...{ type: 'thinking', thinking: 'so', signature: 'sig' },
    })
  })

  it('trap 27: hidden thoughts come through and are never shown', () => {
    const block = { type: 'redacted_thinking', data: 'secret' }
    const turn = { role: 'assistant', content: [block, { type: 'text', text: 'a' }] }
    const { messages } = reader.request!(wire({ messages: [{ role: 'user', content: 'hi' }, turn] }))
    expect(messages[1]!.content[0]).toMatchObject({ type: 'reasoning', text: '', redacted: true })
    expect(body({ messages }).messages[1].content[0]).toEqual(block)
    const answer = result([
      { type: 'reasoning', text: '', redacted: true, signature: { format: 'responses', value: 'x' } },
    ])
    const [shown] = whole(answer).content
    expect(shown.type).toBe('redacted_thinking')
    expect(read({ content: [shown] }).candidates[0]!.content[0]).toMatchObject({
      ...{ redacted: true, signature: { format: 'responses', value: 'x' } },
    })
  })

  it('trap 29: a thought that is a signature alone is kept', () => {
    const alone: Part = { type: 'reasoning', text: '', signature: { format: 'messages', value: 'sig' } }
    expect(body({ messages: [user(text('hi')), assistant(alone, text('a'))] }).messages[1].content).toHaveLength(2)
    expect(streamOf(unfold(result([alone])))[2].delta).toEqual({ type: 'signature_delta', signature: 'sig' })
  })

  it('trap 30: proofs of other issuers, and thoughts nobody signed, never reach the upstream', () => {
    for (const part of [thought('sig', 'contents'), thought(undefined)])
      expect(JSON.stringify(body({ messages: [user(text('hi')), assistant(part, text('a'))] }))).not.toContain('so')
    const enclosed = enclose({ format: 'responses', value: 'x' }, 'messages')
    const [unsigned] = whole(result([thought(undefined)])).content
    for (const block of [{ type: 'thinking', thinking: 'so', signature: enclosed }, unsigned]) {
      const turn = { role: 'assistant', content: [block, { type: 'text', text: 'a' }] }
      expect(native({ messages: [{ role: 'user', content: 'hi' }, turn] }).messages[1].content).toHaveLength(1)
    }
  })

  it('trap 35: a thought of a chat upstream finds back to it through a messages client', () => {
    const [block] = whole(result([thought(undefined)])).content
    const turn = { role: 'assistant', content: [block, { type: 'tool_use', id: 'a', name: 'f', input: {} }] }
    const asked = reader.request!(wire({ messages: [{ role: 'user', content: 'hi' }, turn] }))
    const dialect = { reasoning_field: 'reasoning_content' }
    const { body } = WRITERS['chat']!.request!(asked, { ...FOREIGN, dialect }).wire
    expect(body['messages']).toMatchObject([{}, { reasoning_content: 'so' }])
  })

  it('trap 38: thinking allows no dice and no force, and its budget is at least 1024 and below the limit', () => {
    const sampling = { temperature: 0.2, topP: 0.5, topK: 5, maxTokens: 3000 }
    const toolChoice = { mode: 'required', only: ['f'] } as const
    const written = body({ reasoning: { budget: 500 }, sampling, tools, toolChoice })
    expect(written).toMatchObject({
      thinking: { budget_tokens: 1024 },
      max_tokens: 3000,
      tool_choice: { type: 'auto' },
    })
    expect(written).not.toHaveProperty('temperature')
    expect(written).not.toHaveProperty('top_p')
    expect(written).not.toHaveProperty('top_k')
    expect(body({ sampling: { temperature: 1.7 } }).temperature).toBe(1)
  })

  it('trap 39: thinking that is off has no effort beside it', () => {
    const written = body({ reasoning: { effort: 'high', budget: 0 } })
    expect(written.thinking).toEqual({ type: 'disabled' })
    expect(written).not.toHaveProperty('output_config')
    const both = { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }
    expect(native(both)).toMatchObject(both)
    expect(native(both, { effort_while_off: false }).output_config ?? {}).toEqual({})
  })

  it('trap 40: whether thoughts are shown is as asked', () => {
    for (const display of ['summarized', 'omitted'])
      expect(native({ thinking: { type: 'adaptive', display } }).thinking).toEqual({ type: 'adaptive', display })
    expect(body({ reasoning: { effort: 'low' } }).thinking).toEqual({ type: 'adaptive' })
    expect(body({ reasoning: { effort: 'low', show: false } }).thinking.display).toBe('omitted')
  })

  it('trap 41: a budget leaves room for the answer', () => {
    expect(body({ reasoning: { budget: 8000 } }).max_tokens).toBeGreaterThan(8000)
    const { thinking, max_tokens } = body({ reasoning: { budget: 8000 }, sampling: { maxTokens: 4000 } })
    expect(max_tokens - thinking.budget_tokens).toBeGreaterThanOrEqual(1000)
    expect(body({ reasoning: { budget: 8000 }, sampling: { maxTokens: 600 } }).thinking).toEqual({ type: 'disabled' })
    expect(body({}).max_tokens).toBe(4096)
    expect(body({}, { max_tokens: 64 }).max_tokens).toBe(64)
    expect(() => reader.request!({ ...wire({}), body: { model: 'm', messages: [] } })).toThrow(GatewayError)
  })
})

describe('turns and parts', () => {
  it('trap 18: stop sequences go along', () => {
    expect(body({ sampling: { stop: ['END', ' '] } }).stop_sequences).toEqual(['END'])
  })

  it('trap 42: leading system turns are the system text, later ones stay where they stand', () => {
    const messages: Message[] = [
      { role: 'system', content: [text('a')] },
      { role: 'developer', content: [text('b')] },
      user(text('hi')),
      assistant(text('hello')),
      { role: 'developer', content: [text('c')] },
      user(text('go on')),
    ]
    const written = body({ messages })
    expect(written.system).toEqual([text('a'), text('b')])
    expect(written.messages.map((turn: JsonObject) => turn['role'])).toEqual(['user', 'assistant', 'system', 'user'])
    const plain = body({ messages }, { system_turns: false })
    expect(plain.messages.at(-1)).toEqual({ role: 'user', content: [text('c'), text('go on')] })
    const own = {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'c' },
      ],
    }
    expect(native(own).messages).toEqual(own.messages)
    expect(native(own, { system_turns: false }).messages[1].role).toBe('user')
  })

  it('trap 43: neighbours are one turn, and results come first, all in one', () => {
    const messages = [
      user(text('a')),
      user(text('b')),
      assistant(call('1'), call('2')),
      tool(answerOf('1', text('x'))),
      user(text('and')),
      tool(answerOf('2', text('y'))),
    ]
    const written = body({ messages })
    expect(written.messages.map((turn: JsonObject) => turn['role'])).toEqual(['user', 'assistant', 'user'])
    expect(written.messages[2].content.map((block: JsonObject) => block['tool_use_id'] ?? block['text'])).toEqual([
      ...['1', '2', 'and'],
    ])
    expect(body({ messages: [assistant(text('a'))] }).messages[0].role).toBe('user')
    expect(lost({ messages: [assistant(text('a'))] })).toContain('the-user-speaks-first')
  })

  it('trap 46: ids are of letters, digits, _ and -, the same for a call and its result', () => {
    const messages = [user(text('hi')), assistant(call('functions.f:0')), tool(answerOf('functions.f:0', text('x')))]
    const written = body({ messages })
    const id = written.messages[1].content[0].id
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(written.messages[2].content[0].tool_use_id).toBe(id)
  })

  it('trap 47: names of tools are made legal, and known on the way back', () => {
    const { wire, renamed } = write({ tools: [{ ...FUNCTION, name: 'mcp.server/tool' }] })
    const [{ name }] = wire.body['tools'] as [{ name: string }]
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
    expect(renamed!.get(name)).toEqual({ name: 'mcp.server/tool' })
  })

  it('trap 48: pictures stay in results', () => {
    const source = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
    const picture: Part = { type: 'media', kind: 'image', source }
    const messages = [user(text('hi')), assistant(call('1')), tool(answerOf('1', picture))]
    expect(body({ messages }).messages[2].content[0].content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ])
  })

  it('trap 49: a call that failed is marked, and says something', () => {
    const failed = { ...answerOf('1'), failed: true } as Part
    const [block] = body({ messages: [user(text('hi')), assistant(call('1')), tool(failed)] }).messages[2].content
    expect(block).toMatchObject({ is_error: true, content: 'The call failed.' })
  })

  it('traps 50 to 52: pictures, documents and texts go by bytes, address or id; sounds and films are a loss', () => {
    const media = (kind: 'image' | 'audio' | 'file', source: object): Part => ({ type: 'media', kind, source }) as Part
    const blocks = body({
      messages: [
        user(
          media('image', { type: 'url', url: 'https://a.example/b.png' }),
          media('file', { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' }),
          media('file', { type: 'base64', mediaType: 'text/csv', data: Buffer.from('a;b').toString('base64') }),
          media('image', { type: 'file-id', format: 'messages', id: 'file_1' }),
        ),
      ],
    }).messages[0].content
    expect(blocks).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a;b' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ])
    const sound = media('audio', { type: 'base64', mediaType: 'audio/wav', data: 'AAAA' })
    expect(lost({ messages: [user(text('hi'), sound)] })).toContain('no-audio')
    const elsewhere = media('file', { type: 'file-id', format: 'responses', id: 'file_1' })
    expect(lost({ messages: [user(text('hi'), elsewhere)] })).toContain('no-such-file-ids')
  })

  it('trap 58: a schema goes as the native output format, closed as the upstream wants it', () => {
    const schema = { type: 'object', properties: { minimum: { type: 'integer', minimum: 3 } } }
    expect(body({ output: { text: { shape: 'schema', schema } } }).output_config.format).toEqual({
      type: 'json_schema',
      schema: { type: 'object', properties: { minimum: { type: 'integer' } }, additionalProperties: false },
    })
    expect(lost({ output: { text: { shape: 'json' } } })).toContain('json-needs-a-schema')
  })

  it('trap 60: more than one answer is a loss, never silent', () => {
    expect(lost({ output: { candidates: 3 } })).toContain('one-answer-only')
    const two = result([text('a')], { candidates: [{ content: [] }, { content: [text('b')] }] })
    expect(writer.result!(two, BASE).losses.map(loss => loss.reason)).toContain('one-answer-only')
  })

  it('trap 63: cache markers stay on parts, tools and texts, and are at most four', () => {
    const cache = { ttl: '1h' }
    const marked = (words: string): Part => ({ type: 'text', text: words, cache })
    const written = body({
      messages: [{ role: 'system', content: [marked('s')] }, user(marked('a'), text('b'))],
      tools: [{ ...FUNCTION, cache: {} }],
    })
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    expect(written.system[0].cache_control).toEqual(cache_control)
    expect(written.messages[0].content[0].cache_control).toEqual(cache_control)
    expect(written.tools[0].cache_control).toEqual({ type: 'ephemeral' })
    const many = JSON.stringify(body({ messages: [user(...['a', 'b', 'c', 'd', 'e', 'f'].map(marked))] }))
    expect(many.split('cache_control')).toHaveLength(5)
  })
})

describe('tools', () => {
  const tools = [FUNCTION]
  const choice = (toolChoice: CanonicalRequest['toolChoice'], parallelToolCalls?: boolean) =>
    body({
      tools,
      ...(toolChoice && { toolChoice }),
      ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    }).tool_choice

  it('trap 53: a tool without a type is a function, and goes to chat as one', () => {
    const { tools } = reader.request!(wire({ tools: [{ name: 'f', input_schema: { type: 'object' } }] }))
    expect(tools).toMatchObject([{ type: 'function', name: 'f' }])
    const { body } = WRITERS['chat']!.request!(asked({ tools: tools! }), FOREIGN).wire
    expect(body['tools']).toMatchObject([{ type: 'function', function: { name: 'f' } }])
  })

  it('trap 54: choices keep their mode; fewer calls at once force none', () => {
    expect(choice({ mode: 'required' })).toEqual({ type: 'any' })
    expect(choice({ mode: 'none' })).toEqual({ type: 'none' })
    expect(choice({ mode: 'required', only: ['f'] })).toEqual({ type: 'tool', name: 'f' })
    expect(choice(undefined, false)).toEqual({ type: 'auto', disable_parallel_tool_use: true })
    const read = reader.request!(wire({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }))
    expect(read).toMatchObject({ toolChoice: { mode: 'auto' }, parallelToolCalls: false })
  })

  it('trap 65: a freeform tool is a function of one text', () => {
    const [tool] = body({ tools: [{ type: 'freeform', name: 'apply_patch' }] }).tools
    expect(tool).toMatchObject({ name: 'apply_patch', input_schema: { required: ['input'] } })
  })

  it('trap 66: tools the upstream runs are its own, under the version that was meant', () => {
    expect(body({ tools: [{ type: 'hosted', kind: 'web-search', maxUses: 2 }] }).tools).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    ])
    const own = [{ type: 'web_search_20260318', name: 'web_search' }]
    expect(native({ tools: own }).tools).toEqual(own)
  })
})

describe('errors and headers', () => {
  it('trap 76: an error has the body and type of this format', () => {
    const chatError = { error: { message: 'No such model.', type: 'invalid_request_error', code: 'model_not_found' } }
    const error = READERS['chat']!.error!({ status: 404, headers: {}, body: chatError })
    expect(writer.error!(error, 'req_1')).toMatchObject({
      status: 404,
      headers: { 'request-id': 'req_1' },
      body: { type: 'error', error: { type: 'not_found_error', message: 'No such model.' }, request_id: 'req_1' },
    })
  })

  it('trap 77: an error under status 200 is one', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }
    expect(() => reader.result!({ status: 200, headers: {}, body }, BASE)).toThrow('Slow down.')
    expect(() => reader.result!({ status: 200, headers: {}, body: {} }, BASE)).toThrow(GatewayError)
  })

  it('trap 78: 529 is overload, and the time to wait comes through', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Full.' } }
    const error = reader.error!({ status: 529, headers: { 'retry-after': '7' }, body })
    expect(error).toMatchObject({ kind: 'overloaded', status: 529, retryAfterSeconds: 7 })
    expect(writer.error!(error, 'r')).toMatchObject({ status: 529, headers: { 'retry-after': '7' } })
    expect(writer.error!({ kind: 'overloaded', message: 'No channel.' }, 'r').status).toBe(503)
  })

  it('trap 79: betas go back as they came, and are never made up', () => {
    const asked = reader.request!(wire({}, { 'anthropic-beta': 'a,b' }))
    expect(writer.request!(asked, NATIVE).wire.headers).toEqual({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a,b',
    })
    expect(write({}).wire.headers).toEqual({ 'anthropic-version': '2023-06-01' })
    const own = { ...wire({}), headers: { 'msgfmt-version': '2026-10-21' } }
    expect(writer.request!(reader.request!(own), NATIVE).wire.headers).toEqual({ 'anthropic-version': '2026-10-21' })
  })
})
