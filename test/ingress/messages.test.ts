import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'
import { namedEvent } from '../builders/streams.ts'
import { FOREIGN } from '../builders/write-options.ts'

const read = (body: JsonObject, path = '/v1/messages') =>
  reader.request!({
    path,
    query: {},
    headers: {},
    body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body },
  })
const stream = (...events: { event?: string; data: string }[]) => drain(reader.events!(STREAM_REQUEST), events)
const START = namedEvent('message_start', {
  message: { id: 'm1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
})
const END = [namedEvent('message_delta', { delta: { stop_reason: 'end_turn' } }), namedEvent('message_stop')]
const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]) => [
  namedEvent('content_block_start', { index, content_block }),
  ...deltas.map(delta => namedEvent('content_block_delta', { index, delta })),
  namedEvent('content_block_stop', { index }),
]

describe('errors', () => {
  it('keep the details that clients read beside the code, such as the paths of images that are too large', () => {
    const details = {
      error_code: 'image_dimensions_too_large',
      max_side_length_pixels: 2000,
      paths: ['messages.0.content.1'],
    }
    const error = { type: 'invalid_request_error', message: 'Too large.', details }
    const read = reader.error!({ status: 400, headers: {}, body: { type: 'error', error } })
    expect(WRITERS['messages']!.error!(read, 'req_1').body).toMatchObject({ error })
    expect(JSON.stringify(WRITERS['chat']!.error!(read, 'req_1').body)).not.toContain('paths')
  })
})

describe('requests', () => {
  it('cuts a user turn where tool results end', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' }
    const content = [result, { type: 'text', text: 'and' }, { ...result, tool_use_id: 'b' }]
    const { messages } = read({ messages: [{ role: 'user', content }] })
    expect(messages.map(({ role }) => role)).toEqual(['tool', 'user', 'tool'])
  })

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { budget: 2000 }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, { budget: -1, show: false }],
    [{ thinking: { type: 'adaptive', display: 'updates' } }, { budget: -1, show: true }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000, display: 'updates' } }, { budget: 2000, show: true }],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, { effort: 'max' }],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'between_tools' } }, { budget: -1 }],
    [{ output_config: { effort: 'low' } }, { effort: 'low' }],
  ] as const)('reads the reasoning settings of %j', (body, reasoning) => {
    expect(read(body as unknown as JsonObject).reasoning).toMatchObject(reasoning)
  })

  it('keeps reasoning that is shown as updates for Claude, and asks other models for a summary', () => {
    const thinking = { type: 'adaptive', display: 'updates' }
    const request = read({ model: 'm', max_tokens: 9000, thinking })
    const written = (format: string) => WRITERS[format]!.request!(request, FOREIGN).wire.body
    expect(written('messages')).toMatchObject({ thinking })
    expect(written('responses')).toMatchObject({ reasoning: { summary: 'auto' } })
    expect(written('contents')).toMatchObject({ generationConfig: { thinkingConfig: { includeThoughts: true } } })
  })

  it('knows a forced tool of the upstream by its name', () => {
    const tools = [{ type: 'web_search_20260318', name: 'web_search' }]
    const tool_choice = { type: 'tool', name: 'web_search' }
    expect(read({ tools, tool_choice }).toolChoice).toMatchObject({ mode: 'required', hosted: 'web-search' })
    expect(read({ tool_choice }).toolChoice).toMatchObject({ mode: 'required', only: ['web_search'] })
  })

  it('keeps documents of blocks and search results in their place, with their words', () => {
    const found = {
      type: 'search_result',
      title: 'T',
      source: 'https://a.example',
      content: [{ type: 'text', text: 'w' }],
    }
    const made = { type: 'document', title: 'D', source: { type: 'content', content: [{ type: 'text', text: 'v' }] } }
    const [turn] = read({ messages: [{ role: 'user', content: [found, made] }] }).messages
    expect(turn!.content).toMatchObject([
      { type: 'opaque', text: 'T\n\nhttps://a.example\n\nw' },
      { type: 'opaque', text: 'D\n\nv' },
    ])
  })

  it('takes a thinking block of a signature alone, as LangChain returns one without text', () => {
    const content = [
      { type: 'thinking', signature: 'c2ln' },
      { type: 'text', text: 'Hi.' },
    ]
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
    ]
    expect(read({ model: 'm', max_tokens: 9, messages }).messages[1]!.content[0]).toMatchObject({
      type: 'reasoning',
      text: '',
      signature: { value: 'c2ln' },
    })
  })

  it('needs a limit, but not to count tokens', () => {
    expect(() => read({ max_tokens: null })).toThrow('max_tokens')
    expect(read({ max_tokens: null }, '/v1/messages/count_tokens').sampling).toEqual({})
  })

  it.each([
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.text'],
    [{ tools: [{ name: 7 }] }, 'tools.0.name'],
    [{ thinking: { type: 'enabled', budget_tokens: 'much' } }, 'thinking.budget_tokens'],
  ] as const)('names the field at fault in %j', (body, param) => {
    expect(() => read(body as unknown as JsonObject)).toThrow(
      expect.objectContaining({ error: expect.objectContaining({ kind: 'invalid-request', param }) }),
    )
  })
})

describe('streams', () => {
  it('tells the calls of the upstream’s own tools whole, in their place', () => {
    const events = stream(
      START,
      ...block(
        0,
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'input_json_delta', partial_json: '{"query":' },
        { type: 'input_json_delta', partial_json: '"a"}' },
      ),
      ...block(
        1,
        { type: 'server_tool_use', id: 't', name: 'web_fetch', input: {} },
        { type: 'input_json_delta', partial_json: '{"url":"b"}' },
      ),
      ...block(2, { type: 'compaction', content: null }, { type: 'compaction_delta', content: 'so far' }),
      ...END,
    )
    expect(fold(events).candidates[0]!.content).toMatchObject([
      { type: 'search-call', id: 's', queries: ['a'] },
      { type: 'opaque', value: { type: 'server_tool_use', input: { url: 'b' } } },
      { type: 'opaque', value: { type: 'compaction', content: 'so far' } },
    ])
  })

  it('takes arguments that stand in the start of a call where no delta brings them', () => {
    const call = { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }
    const whole = fold(stream(START, ...block(0, call), ...END))
    expect(whole.candidates[0]!.content).toMatchObject([{ arguments: '{"x":1}' }])
    const delta = { type: 'input_json_delta', partial_json: '{"x":2}' }
    const grown = fold(stream(START, ...block(0, call, delta), ...END))
    expect(grown.candidates[0]!.content).toMatchObject([{ arguments: '{"x":2}' }])
  })

  it('passes over keep-alives, and keeps events it does not know', () => {
    const unknown = namedEvent('x_progress', { step: 1 })
    expect(stream(START, namedEvent('ping'), unknown, ...END).filter(({ type }) => type === 'opaque')).toEqual([
      { type: 'opaque', format: 'messages', value: { type: 'x_progress', step: 1 } },
    ])
  })

  it('takes the start of an answer for it, whatever unknown events come before', () => {
    const unknown = namedEvent('x_limits', { left: 1 })
    const [start, ...others] = stream(unknown, START, ...END)
    expect(start).toMatchObject({ type: 'result-start', id: 'm1', model: 'm' })
    expect(others).toContainEqual({ type: 'opaque', format: 'messages', value: { type: 'x_limits', left: 1 } })
    expect(fold(stream(unknown, START, ...END)).usage).toMatchObject({ input: 1 })
    expect(fold(stream(unknown, ...END)).candidates[0]!.finish).toMatchObject({ reason: 'stop' })
  })

  it('keeps all unknown events before a start, however many, and makes the start good then', () => {
    const many = Array.from({ length: 100 }, (_, left) => namedEvent('x_limits', { left }))
    const events = stream(...many, START, ...END)
    expect(events[0]).toMatchObject({ type: 'result-start' })
    const kept = events.flatMap(event => (event.type === 'opaque' ? [event.value['left']] : []))
    expect(kept).toEqual([...many.keys()])
  })

  it('takes late facts of the whole: container, tier, reason to stop without its event', () => {
    const late = namedEvent('message_delta', {
      delta: { stop_reason: 'end_turn', container: { id: 'c' } },
      usage: { output_tokens: 5, service_tier: 'priority' },
    })
    expect(fold(stream(START, late))).toMatchObject({
      candidates: [{ finish: { reason: 'stop' } }],
      serviceTier: 'priority',
      usage: { input: 1, output: 5 },
      extras: { messages: { container: { id: 'c' } } },
    })
  })
})

/* A zero at the end replaced the prompt's count, so that prompts of such servers cost nothing. */
describe('counts of a prompt at the end of a stream', () => {
  const usageOf = (first: JsonObject, last: JsonObject) =>
    fold(
      stream(
        namedEvent('message_start', { message: { id: 'm1', model: 'm', usage: first } }),
        ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' }),
        namedEvent('message_delta', { delta: { stop_reason: 'end_turn' }, usage: last }),
        namedEvent('message_stop', {}),
      ),
    ).usage

  it.each([
    [{ input_tokens: 25 }, { input_tokens: 0 }, { input: 25 }],
    [
      { input_tokens: 25, cache_read_input_tokens: 100 },
      { input_tokens: 0, cache_read_input_tokens: 0 },
      { input: 125 },
    ],
    [{ input_tokens: 25 }, { input_tokens: 5, cache_read_input_tokens: 20 }, { input: 25, cacheRead: 20 }],
    [{ input_tokens: 25 }, { input_tokens: 0, cache_read_input_tokens: 25 }, { input: 25, cacheRead: 25 }],
    [{ input_tokens: 0 }, { input_tokens: 25 }, { input: 25 }],
    [{ input_tokens: 25 }, { input_tokens: null }, { input: 25 }],
    [{ input_tokens: 25 }, {}, { input: 25 }],
  ])('%j, then %j: %j', (first, last, counts) => {
    expect(usageOf({ ...first, output_tokens: 1 }, { ...last, output_tokens: 9 })).toMatchObject({
      ...counts,
      output: 9,
    })
  })
})
