import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'
import { text } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { result } from '../builders/results.ts'
import { namedEvent } from '../builders/streams.ts'
import { grammarFault } from '../laws/grammar.ts'
import { call, fromChat, lifeCycle, read, streamOf, thought, whole, wire } from './messages.ts'

/* Traps of answers in messages, each by its number. */

const proof: Part = { type: 'reasoning', text: '', signature: { format: 'contents', value: 'sig' } }

it('trap 32: a signature without text comes before the part it signs or after the last text, complete and streamed', () => {
  expect(whole(result([text('yes'), proof, call('a')])).content.map((block: { type: string }) => block.type)).toEqual([
    'text',
    'thinking',
    'tool_use',
  ])
  const trailing = result([text('yes'), proof])
  expect(whole(trailing).content.map((block: { type: string }) => block.type)).toEqual(['text', 'thinking'])
  const events = streamOf(unfold(trailing))
  lifeCycle(events)
  const { signature } = whole(trailing).content[1]
  expect(events.findLast(({ delta }) => delta?.signature)?.delta).toEqual({ type: 'signature_delta', signature })
  expect(
    reader.result!({ status: 200, headers: {}, body: whole(trailing) }, REQUEST).candidates[0]!.content[1],
  ).toEqual(proof)
})

it.each([
  { by: 'its note of billing', body: { system: [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=2' }] } },
  { by: 'the beta it asks for', headers: { 'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14' } },
])(
  'trap 32: Claude Code, known by $by, prints the last block, so that no answer of it ends in a proof',
  ({ body = {}, headers = {} }) => {
    const asked = reader.request!(wire(body, headers))
    const trailing = result([text('yes'), proof])
    const { wire: answer, losses } = WRITERS['messages']!.result!(trailing, asked)
    expect((answer.body['content'] as { type: string }[]).map(({ type }) => type)).toEqual(['text'])
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'dropped', path: ['candidates', 0, 'content', 1] }))
    const events = drain(WRITERS['messages']!.events!(asked), unfold(trailing))
    expect(events.filter(({ event }) => event === 'content_block_start')).toHaveLength(1)
  },
)

it('trap 46: ids of calls are legal, complete and streamed, for the next turn may go to an upstream of this format', () => {
  const answer = result([call('functions.f:0')])
  const [block] = whole(answer).content
  expect(block.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  const start = streamOf(unfold(answer)).find(event => event.type === 'content_block_start')
  expect(start.content_block.id).toBe(block.id)
})

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
    const events = drain(reader.events!(REQUEST), [
      namedEvent('message_start', { message: { id: 'm', model: 'm', usage: {} } }),
      namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      namedEvent('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }),
      namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
      namedEvent('content_block_stop', { index: 0 }),
      namedEvent('message_delta', { delta: { stop_reason: 'end_turn' } }),
      namedEvent('message_stop'),
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

  it('traps 75, 88: an error amid the stream ends it, without a finish, and leaves open what is open', () => {
    const error = { kind: 'rate-limited', message: 'Slow down.' } as const
    const [start, begin, grow] = [...unfold(result([text('a')]))]
    const events = streamOf([start!, begin!, grow!, { type: 'error', error }])
    const said = ['message_start', 'content_block_start', 'content_block_delta', 'error']
    expect(events.map(({ type }) => type)).toEqual(said)
    expect(events.at(-1)).toEqual({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } })
    const cut = streamOf([start!, begin!, grow!])
    expect(cut.map(({ type }) => type)).toEqual(said)
    expect(cut.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it('trap 75: an upstream that ends early or breaks has failed', () => {
    for (const events of [[], [namedEvent('message_start', { message: { id: 'm' } })], [{ data: '{"type"' }]])
      expect(drain(reader.events!(REQUEST), events).at(-1)).toMatchObject({
        type: 'error',
        error: { kind: 'upstream-failed' },
      })
    const told = drain(reader.events!(REQUEST), [
      namedEvent('error', { error: { type: 'overloaded_error', message: 'Full.' } }),
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

  it('trap 82: a citation of a block that has ended is read of its text, and written in one of its own, which is told', () => {
    const at = (index: number, type: string, more: JsonObject = {}) =>
      namedEvent(`content_block_${type}`, { index, ...more })
    const citation = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'q' }
    const delta = (index: number, more: JsonObject) => at(index, 'delta', { delta: more })
    const events = drain(reader.events!(REQUEST), [
      namedEvent('message_start', { message: { id: 'm', model: 'm', content: [], usage: {} } }),
      at(0, 'start', { content_block: { type: 'text', text: '' } }),
      delta(0, { type: 'text_delta', text: 'Hi.' }),
      at(0, 'stop'),
      at(1, 'start', { content_block: { type: 'thinking', thinking: '', signature: '' } }),
      delta(0, { type: 'citations_delta', citation }),
      at(1, 'stop'),
      namedEvent('message_delta', { delta: { stop_reason: 'end_turn' }, usage: {} }),
      namedEvent('message_stop'),
    ])
    expect(grammarFault(events)).toBeUndefined()
    const [text] = fold(events).candidates[0]!.content
    expect(text).toMatchObject({ text: 'Hi.', annotations: [{ url: 'https://a.example', quote: 'q' }] })

    const write = (asked: CanonicalRequest) => {
      const machine = WRITERS['messages']!.events!(asked)
      return { sent: drain(machine, events).map(({ data }) => JSON.parse(data)), lost: machine.lost }
    }
    const { sent, lost } = write(REQUEST)
    lifeCycle(sent)
    expect(sent.filter(({ delta }) => delta?.type === 'citations_delta')).toHaveLength(1)
    const path = ['candidates', 0, 'content', 0, 'annotations']
    expect(lost!.filter(one => one.path[0] === 'candidates')).toMatchObject([{ kind: 'dropped', path }])
    // Claude Code would print the last block as the answer.
    const agent = write(reader.request!(wire({}, { 'anthropic-beta': 'claude-code-20250219' })))
    expect(agent.sent.filter(({ delta }) => delta?.type === 'citations_delta')).toEqual([])
    expect(agent.lost!.filter(one => one.path[0] === 'candidates')).toMatchObject([{ kind: 'dropped', path }])
  })

  it('trap 82: the text without words that has late citations comes back, and goes to no upstream, which would refuse it', () => {
    const late = [{ type: 'citation', url: 'https://a.example' }] as const
    const [start, begin, grow, end, ...rest] = unfold(result([text('Hi.')]))
    const patch = { type: 'part-patch', at: { candidate: 0, part: 0 }, annotations: late } as const
    const wires = drain(WRITERS['messages']!.events!(REQUEST), [start!, begin!, grow!, end!, patch, ...rest])
    const { candidates } = fold(drain(reader.events!(REQUEST), wires))
    const sent = whole(result(candidates[0]!.content)).content as JsonObject[]
    expect(sent.map(block => block['text'])).toEqual(['Hi.', ''])

    const turns = (content: JsonObject[]) => [
      { role: 'user', content: 'q' },
      { role: 'assistant', content },
      { role: 'user', content: 'And?' },
    ]
    const asked = reader.request!(wire({ messages: turns(sent) }))
    for (const native of [true, false]) {
      const { body } = WRITERS['messages']!.request!(asked, { dialect: {}, native }).wire
      const [, assistant] = body['messages'] as JsonObject[]
      expect(JSON.stringify(assistant)).toContain('Hi.')
      expect(JSON.stringify(assistant)).not.toContain('"text":""')
    }
    // Messages without such a citation stay unchanged.
    const plain = turns([{ type: 'text', text: 'Hi.' }])
    const { body } = WRITERS['messages']!.request!(reader.request!(wire({ messages: plain })), {
      dialect: {},
      native: true,
    }).wire
    expect(body['messages']).toEqual(plain)
  })

  it('trap 82: citations without a signature are not sent, because upstreams would refuse them; signed ones are sent unchanged', () => {
    const cited = (encrypted_index: string) => ({
      type: 'text',
      text: 'Hi.',
      citations: [{ type: 'web_search_result_location', url: 'https://a.example', title: null, encrypted_index }],
    })
    const sent = (block: JsonObject) => {
      const messages = [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [block] },
        { role: 'user', content: 'And?' },
      ]
      const options = { dialect: {}, native: true }
      const { wire: written, losses } = WRITERS['messages']!.request!(reader.request!(wire({ messages })), options)
      const [, assistant] = written.body['messages'] as JsonObject[]
      return { content: assistant!['content'], losses }
    }
    expect(sent(cited('proof'))).toEqual({ content: [cited('proof')], losses: [] })
    const { content, losses } = sent(cited(''))
    expect(content).toEqual([{ type: 'text', text: 'Hi.' }])
    expect(losses).toMatchObject([{ kind: 'dropped', reason: 'citation-without-proof', restored: true }])
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
    expect(WRITERS['chat']!.result!(refused, REQUEST).wire.body['choices']).toMatchObject([
      { message: { refusal: 'No.' }, finish_reason: 'content_filter' },
    ])
  })

  it.each(['chat', 'completions'] as const)(
    'trap 17: vLLM’s stop sequence reaches callers of messages, of %s',
    format => {
      const isChat = format === 'chat'
      const said = { ...(isChat ? { message: { role: 'assistant', content: 'a' } } : { text: 'a' }), logprobs: null }
      const piece = { ...(isChat ? { delta: { role: 'assistant', content: 'a' } } : { text: 'a' }), logprobs: null }
      const object = isChat ? 'chat.completion' : 'text_completion'
      const read = (beside: JsonObject) => {
        const body = { id: 'c', object, created: 1, model: 'm', choices: [{ index: 0, ...said, ...beside }] }
        const chunk = {
          ...body,
          object: isChat ? `${object}.chunk` : object,
          choices: [{ index: 0, ...piece, ...beside }],
        }
        const answer = READERS[format]!.result!({ status: 200, headers: {}, body }, REQUEST)
        const events = drain(READERS[format]!.events!(REQUEST), [{ data: JSON.stringify(chunk) }, { data: '[DONE]' }])
        return { body, answer, streamed: fold(events) }
      }
      const met = read({ finish_reason: 'stop', stop_reason: '</end>' })
      for (const from of [met.answer, met.streamed]) {
        expect(whole(from)).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: '</end>' })
        expect(streamOf(unfold(from)).at(-2)).toMatchObject({
          delta: { stop_reason: 'stop_sequence', stop_sequence: '</end>' },
        })
        const back = WRITERS[format]!.result!(from, REQUEST)
        expect(back.wire.body).toMatchObject({ choices: [{ finish_reason: 'stop', stop_reason: '</end>' }] })
        expect(back.losses).toEqual([])
        const chunks = drain(WRITERS[format]!.events!(REQUEST), unfold(from)).map(({ data }) => data)
        expect(chunks.filter(data => data.includes('"stop_reason":"</end>"'))).toHaveLength(1)
      }
      // Unchanged, byte for byte.
      expect(JSON.stringify(WRITERS[format]!.result!(met.answer, REQUEST).wire.body)).toBe(JSON.stringify(met.body))
      for (const beside of [
        { finish_reason: 'stop', stop_reason: 128009 },
        { finish_reason: 'stop', stop_reason: null },
        { finish_reason: 'stop', stop_reason: 'end_turn' },
        { finish_reason: 'length', stop_reason: '</end>' },
      ])
        for (const from of [read(beside).answer, read(beside).streamed]) {
          expect(whole(from)['stop_sequence']).toBeNull()
          expect(WRITERS[format]!.result!(from, REQUEST).wire.body).toMatchObject({
            choices: [beside.stop_reason === null ? {} : { stop_reason: beside.stop_reason }],
          })
        }
    },
  )

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
    const events = drain(reader.events!(REQUEST), [
      namedEvent('message_start', {
        message: { id: 'm', usage: { input_tokens: 3, cache_read_input_tokens: 60, output_tokens: 1 } },
      }),
      namedEvent('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: null, output_tokens: 9 },
      }),
      namedEvent('message_stop'),
    ])
    expect(fold(events).usage).toMatchObject({ input: 63, cacheRead: 60, output: 9 })
  })
})
