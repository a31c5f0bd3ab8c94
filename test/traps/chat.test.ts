import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { chat as writer } from '../../src/egress/chat/index.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { chat as reader } from '../../src/ingress/chat/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { partsOf } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'

/* Traps of chat completions, each by its number. These tests use only reader and writer. */
const asked = (more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({ ...REQUEST, ...more })
const write = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
  writer.request!(asked(more), { ...FOREIGN, dialect })
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): any => write(more, dialect).wire.body

const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}) => ({
  data: JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  }),
})
const DONE = { data: '[DONE]' }
const readStream = (...events: { data: string }[]): CanonicalEvent[] => drain(reader.events!(REQUEST), events)
const answer = (...events: { data: string }[]): CanonicalResult => fold(readStream(...events))
const result = (content: Part[], more: Partial<CanonicalResult> = {}): CanonicalResult => ({
  ...{ id: 'r1', model: 'm', createdAt: 1 },
  candidates: [{ content, finish: { reason: 'stop' } }],
  ...more,
})
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const written = (answer: CanonicalResult, to = REQUEST): any => writer.result!(answer, to).wire.body
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
const chunks = (answer: CanonicalResult, to = REQUEST): any[] =>
  drain(writer.events!(to), unfold(answer)).map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))

const CALL_A: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' }
const CALL_B: Part = { type: 'tool-call', id: 'b', name: 'g', arguments: '' }
const call = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  text: string,
): JsonObject => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id, type: 'function' }),
  function: { ...(name === undefined ? {} : { name }), arguments: text },
})

describe('tool calls in streams', () => {
  it('trap 1: calls of different indexes are different parts', () => {
    const got = answer(
      chunk({ tool_calls: [call(0, 'a', 'f', '{}')] }),
      chunk({ tool_calls: [call(1, 'b', 'g', '{}')] }, 'tool_calls'),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([
      { id: 'a', name: 'f' },
      { id: 'b', name: 'g' },
    ])
  })

  it('trap 2: written indexes count calls only, from 0; an index that is always 0 is told apart by ids', () => {
    const indexes = chunks(result([{ type: 'text', text: 'hm' }, CALL_A, CALL_B]))
      .flatMap(one => one.choices?.[0]?.delta.tool_calls ?? [])
      .map(one => [one.index, one.id])
    expect(indexes).toEqual([
      [0, 'a'],
      [0, undefined],
      [1, 'b'],
      [1, undefined],
    ])
    const got = answer(
      chunk({ tool_calls: [call(0, 'a', 'f', '{"x":1}')] }),
      chunk({ tool_calls: [call(0, 'b', 'g', '{"y":2}')] }, 'tool_calls'),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([
      { id: 'a', arguments: '{"x":1}' },
      { id: 'b', arguments: '{"y":2}' },
    ])
  })

  it('trap 3: arguments that arrive interleaved go each to their own call', () => {
    const got = answer(
      chunk({ tool_calls: [call(0, 'a', 'f', '{"x"')] }),
      chunk({ tool_calls: [call(1, 'b', 'g', '{"y"')] }),
      chunk({ tool_calls: [call(0, undefined, undefined, ':1}')] }),
      chunk({ tool_calls: [call(1, undefined, undefined, ':2}')] }, 'tool_calls'),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([{ arguments: '{"x":1}' }, { arguments: '{"y":2}' }])
  })

  it('trap 5: parallel calls without any index are told apart by id, else by order', () => {
    const got = answer(
      chunk({ tool_calls: [call(undefined, 'a', 'f', '{"x":')] }),
      chunk({ tool_calls: [call(undefined, undefined, undefined, '1}')] }),
      chunk({ tool_calls: [call(undefined, 'b', 'g', '{}')] }, 'tool_calls'),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([
      { id: 'a', arguments: '{"x":1}' },
      { id: 'b', arguments: '{}' },
    ])
  })

  it('trap 7: a call starts when its id and name are known, whatever came before', () => {
    const events = readStream(
      chunk({ tool_calls: [{ index: 0, function: { arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, id: 'a' }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: ':1}' } }] }, 'tool_calls'),
      DONE,
    )
    expect(events.find(event => event.type === 'part-start')).toMatchObject({ part: { id: 'a', name: 'f' } })
    expect(partsOf(fold(events))).toMatchObject([{ arguments: '{"x":1}' }])
  })

  it('trap 8: a call without arguments is written as {} exactly once', () => {
    expect(written(result([CALL_B])).choices[0].message.tool_calls[0].function.arguments).toBe('{}')
    const said = chunks(result([CALL_B])).flatMap(one => one.choices?.[0]?.delta.tool_calls ?? [])
    expect(said.map(one => one.function.arguments).join('')).toBe('{}')
    expect(
      body({ messages: [{ role: 'assistant', content: [CALL_B] }] }).messages[0].tool_calls[0].function.arguments,
    ).toBe('{}')
  })

  it('trap 9: content in the chunk that finishes is not lost', () => {
    const got = answer(
      chunk({ content: 'a' }),
      chunk({ content: 'b' }, 'stop', { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([{ text: 'ab' }])
    expect(got).toMatchObject({ usage: { input: 1, output: 2 }, candidates: [{ finish: { reason: 'stop' } }] })
  })

  it('trap 12: chunks have what strict clients demand: index, role once, choices always', () => {
    const told = chunks(
      result([{ type: 'text', text: 'a' }, CALL_A], { usage: { input: 1, output: 1 } }),
      asked({ spelling: { chat: { stream_options: { include_usage: true } } } }),
    )
    for (const one of told)
      if (one !== '[DONE]') expect(one).toMatchObject({ object: 'chat.completion.chunk', choices: expect.any(Array) })
    const roles = told.flatMap(one => one.choices ?? []).map(choice => choice.delta.role)
    expect(roles.filter(role => role !== undefined)).toEqual(['assistant'])
    expect(told.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 2 } })
  })
})

it('trap 8: an upstream that sends every field leaves hollow calls behind, and they are none', () => {
  const message = { role: 'assistant', content: 'a', function_call: { name: '', arguments: '' } }
  const read = reader.result!(
    {
      status: 200,
      headers: {},
      body: { id: 'c', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] },
    },
    REQUEST,
  )
  expect(partsOf(read)).toMatchObject([{ type: 'text', text: 'a' }])
  expect(written(read).choices[0].message.function_call).toEqual({ name: '', arguments: '' })
  expect(JSON.stringify(chunks(read))).not.toContain('function_call')
})

describe('tool calls of whole answers', () => {
  const whole = (...calls: JsonObject[]): JsonObject => ({
    ...{ id: 'r1', object: 'chat.completion', created: 1, model: 'm', vendor: { seen: true } },
    choices: [
      { index: 0, message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' },
    ],
  })
  // biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
  const calledIn = ({ choices }: { choices: any }) => choices[0].message.tool_calls
  const passed = (body: JsonObject) => written(reader.result!({ status: 200, headers: {}, body }, REQUEST))

  it('trap 6: calls of one id, or of none, get one each, and all else is sent unchanged', () => {
    const twice = whole(
      call(undefined, 'a', 'f', '{}'),
      call(undefined, 'a', 'g', '{}'),
      call(undefined, undefined, 'g', '{}'),
    )
    const got = passed(twice)
    expect(calledIn(got).map(({ id }: { id: string }) => id)).toEqual(['a', 'call_0_g', 'call_1_g'])
    const [choice] = twice['choices'] as JsonObject[]
    const message = { ...(choice!['message'] as JsonObject), tool_calls: calledIn(got) }
    expect(got).toEqual({ ...twice, choices: [{ ...choice, message }] })
    expect(calledIn(got)[1]).toEqual({ ...call(undefined, 'call_0_g', 'g', '{}') })
  })

  it('an answer whose calls have ids goes out as the very same object', () => {
    const body = whole(call(undefined, 'a', 'f', '{}'), call(undefined, 'b', 'f', '{}'))
    expect(passed(body)).toBe(body)
  })
})

describe('finish reasons', () => {
  it('trap 13: calls were made, so the reason is tool_calls, read and written', () => {
    expect(
      answer(chunk({ tool_calls: [call(0, 'a', 'f', '{}')] }), chunk({}, 'stop'), DONE).candidates[0]!.finish,
    ).toEqual({ reason: 'tool-calls', raw: 'stop' })
    expect(written(result([CALL_A])).choices[0].finish_reason).toBe('tool_calls')
    expect(chunks(result([CALL_A])).at(-2).choices[0].finish_reason).toBe('tool_calls')
  })

  it('trap 15: an answer that broke never looks finished', () => {
    const broken = result([], {
      candidates: [{ content: [], finish: { reason: 'error', raw: 'MALFORMED_FUNCTION_CALL' } }],
    })
    expect(written(broken).choices[0].finish_reason).toBe('content_filter')
  })

  it('trap 16: refused is content_filter; paused has no word here and is reported', () => {
    const end = (reason: 'refused' | 'paused') =>
      writer.result!(result([], { candidates: [{ content: [], finish: { reason } }] }), REQUEST)
    expect(end('refused').wire.body).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] })
    expect(end('paused').losses).toMatchObject([{ path: ['candidates', 0, 'finish', 'reason'] }])
  })

  it('trap 17: a stop sequence that cannot be told is a reported loss', () => {
    const stopped = result([], { candidates: [{ content: [], finish: { reason: 'stop', stopSequence: 'END' } }] })
    expect(writer.result!(stopped, REQUEST).losses).toMatchObject([{ reason: 'no-stop-sequence' }])
  })

  it('trap 18: stop sequences are copied', () => {
    expect(body({ sampling: { stop: ['END'] } }).stop).toEqual(['END'])
  })
})

describe('usage', () => {
  it('trap 20: cached tokens are inside prompt_tokens, with their detail', () => {
    expect(written(result([], { usage: { input: 100, cacheRead: 60, cacheWrite: 10, output: 5 } })).usage).toEqual({
      ...{ prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 },
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    })
  })

  it('trap 22: usage is told in a stream only when asked for, and asked of the upstream for callers who always have it', () => {
    const counted = result([{ type: 'text', text: 'a' }], { usage: { input: 1, output: 1 } })
    expect(chunks(counted).some(one => one.usage)).toBe(false)
    const to = reader.request!({
      path: '',
      query: {},
      headers: {},
      body: { model: 'm', messages: [], stream: true, stream_options: { include_usage: true } },
    })
    const told = chunks(counted, to)
    expect(told.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 1 } })
    expect(told[0].usage).toBeNull()
    expect(body({ stream: true }, { include_usage: true }).stream_options).toEqual({ include_usage: true })
    expect(body({ stream: true }).stream_options).toEqual({ include_usage: true })
    expect(body({ stream: true }, { include_usage: false }).stream_options).toBeUndefined()
  })

  it('trap 24: reasoning is inside completion_tokens', () => {
    expect(written(result([], { usage: { input: 1, output: 30, reasoning: 20 } })).usage).toMatchObject({
      completion_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 20 },
    })
  })
})

describe('reasoning', () => {
  const turn = (...content: Part[]) => ({ messages: [{ role: 'assistant' as const, content }] })
  const thought: Part = { type: 'reasoning', text: 'hm', signature: { format: 'messages', value: 's' } }

  it('trap 30: another vendor’s signature stays here', () => {
    expect(JSON.stringify(body(turn(thought, CALL_A), { reasoning_field: 'reasoning_content' }))).not.toContain('"s"')
  })

  it('trap 31: a thought signature of a call travels in the field of Google’s chat surface, wrapped', () => {
    const signed: Part[] = [{ type: 'reasoning', text: '', signature: { format: 'contents', value: 'sig' } }, CALL_A]
    const wrapped = Buffer.from('il:contents:sig').toString('base64')
    const extra = { extra_content: { google: { thought_signature: wrapped } } }
    expect(written(result(signed)).choices[0].message.tool_calls[0]).toMatchObject(extra)
    expect(chunks(result(signed))[0].choices[0].delta.tool_calls[0]).toMatchObject(extra)
    const back = reader.request!({
      path: '',
      query: {},
      headers: {},
      body: { model: 'm', messages: [written(result(signed)).choices[0].message] },
    })
    expect(back.messages[0]!.content).toMatchObject(signed)
  })

  it('trap 35: reasoning goes back under the name the upstream demands', () => {
    expect(body(turn(thought, CALL_A), { reasoning_field: 'reasoning_content' }).messages[0].reasoning_content).toBe(
      'hm',
    )
    expect(body(turn(thought), { reasoning_field: 'reasoning' }).messages[0].reasoning).toBe('hm')
  })

  it('trap 36: and not at all where the channel does not ask for it', () => {
    const { wire, losses } = write(turn(thought, CALL_A))
    expect(JSON.stringify(wire.body)).not.toContain('hm')
    expect(losses).toMatchObject([{ path: ['messages', 0, 'content', 0], kind: 'dropped' }])
  })

  it('trap 37: thoughts are never merged into the content', () => {
    const message = written(result([thought, { type: 'text', text: 'yes' }])).choices[0].message
    expect(message).toMatchObject({ content: 'yes', reasoning_content: 'hm' })
  })
})

describe('request content', () => {
  const IMAGE: Part = { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }
  const user = (...content: Part[]) => ({ messages: [{ role: 'user' as const, content }] })

  it('trap 42: a system turn in the middle stays where it is', () => {
    const text = (text: string): Part => ({ type: 'text', text })
    const roles = body({
      messages: [
        { role: 'user', content: [text('a')] },
        { role: 'system', content: [text('b')] },
        { role: 'user', content: [text('c')] },
      ],
    }).messages.map((one: JsonObject) => one['role'])
    expect(roles).toEqual(['user', 'system', 'user'])
  })

  it.each([
    ['has other characters', 'functions f:0'],
    ['is one of vLLM, too long for OpenAI', 'chatcmpl-tool-0123456789abcdef0123456789abcdef'],
  ])('trap 46: a call’s id that %s is rewritten, alike in call and result', (_, id) => {
    const { messages } = body({
      messages: [
        { role: 'assistant', content: [{ ...CALL_A, id } as Part] },
        { role: 'tool', content: [{ type: 'tool-result', id, content: [] }] },
      ],
    })
    expect(messages[0].tool_calls[0].id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
    expect(messages[1].tool_call_id).toBe(messages[0].tool_calls[0].id)
  })

  const longName = `mcp__calendar__${'x'.repeat(49)}`
  it.each([
    ...['messages', 'responses', 'contents', 'converse'].map(format => [format, 'get_time'] as const),
    ['messages', longName] as const,
  ])('trap 46: the id of a call of Kimi comes back as the model wrote it, from a caller of %s: %s', (format, name) => {
    const id = `functions.${name}:12`
    const call: Part = { type: 'tool-call', id, name, arguments: '{}' }
    const told = WRITERS[format]!.result!(result([call]), REQUEST).wire
    const [part] = READERS[format]!.result!(told, REQUEST).candidates[0]!.content
    const returned = part as Part & { type: 'tool-call' }
    const { messages } = body({
      messages: [
        { role: 'assistant', content: [returned] },
        { role: 'tool', content: [{ type: 'tool-result', id: returned.id, content: [] }] },
      ],
    })
    expect(messages[0].tool_calls[0].id).toBe(id)
    expect(messages[1].tool_call_id).toBe(id)
  })

  it.each(['functions_get_time_12_00000000', 'functions_get_time_12', 'functions__12_00000000'])(
    'trap 46: %s is no id of Kimi',
    id => {
      const { messages } = body({ messages: [{ role: 'assistant', content: [{ ...CALL_A, id } as Part] }] })
      expect(messages[0].tool_calls[0].id).toBe(id)
    },
  )

  it('trap 47: a tool’s name that is not legal is shortened, and known on the way back', () => {
    const name = `mcp.server/${'x'.repeat(80)}`
    const { wire, renamed } = write({
      tools: [{ type: 'function', name }],
      toolChoice: { mode: 'required', only: [name] },
    })
    // biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
    const { tools, tool_choice } = wire.body as any
    expect(tools[0].function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(tool_choice.function.name).toBe(tools[0].function.name)
    expect(renamed?.get(tools[0].function.name)).toEqual({ name })
  })

  it('trap 48: an image in a tool’s result follows in a user message, after all results', () => {
    const { messages } = body({
      messages: [
        { role: 'tool', content: [{ type: 'tool-result', id: 'a', content: [{ type: 'text', text: 'see' }, IMAGE] }] },
        { role: 'tool', content: [{ type: 'tool-result', id: 'b', content: [{ type: 'text', text: 'ok' }] }] },
      ],
    })
    expect(messages.map((one: JsonObject) => one['role'])).toEqual(['tool', 'tool', 'user'])
    expect(messages[0].content).not.toContain('AAAA')
    expect(JSON.stringify(messages[2])).toContain('data:image/png;base64,AAAA')
  })

  it('trap 49: a failed call says so in words, and the lost flag is reported', () => {
    const failed: Part = { type: 'tool-result', id: 'a', content: [{ type: 'text', text: 'no disk' }], failed: true }
    const { wire, losses } = write({ messages: [{ role: 'tool', content: [failed] }] })
    expect(wire.body).toMatchObject({ messages: [{ content: 'Error: no disk' }] })
    expect(losses.map(loss => loss.reason)).toContain('no-failure-flag')
  })

  it('trap 50: bytes, URLs and ids of images each go the way chat has for them', () => {
    const url: Part = { type: 'media', kind: 'image', source: { type: 'url', url: 'https://x.example/a.png' } }
    const id: Part = { type: 'media', kind: 'image', source: { type: 'file-id', format: 'messages', id: 'file_1' } }
    const { wire, losses } = write(user(IMAGE, url, id))
    expect(wire.body).toMatchObject({
      messages: [
        {
          content: [
            { image_url: { url: 'data:image/png;base64,AAAA' } },
            { image_url: { url: 'https://x.example/a.png' } },
          ],
        },
      ],
    })
    expect(losses).toMatchObject([{ path: ['messages', 0, 'content', 2], kind: 'dropped' }])
  })

  it('trap 51: a PDF is a file part with a name', () => {
    const pdf: Part = {
      type: 'media',
      kind: 'file',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
      name: 'a.pdf',
    }
    expect(body(user(pdf)).messages[0].content[0]).toEqual({
      type: 'file',
      file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
    })
  })

  it('trap 52: audio goes in as wav or mp3, anything else is reported', () => {
    const sound = (mediaType: string): Part => ({
      type: 'media',
      kind: 'audio',
      source: { type: 'base64', mediaType, data: 'AAAA' },
    })
    expect(body(user(sound('audio/mpeg'))).messages[0].content[0].input_audio).toEqual({ data: 'AAAA', format: 'mp3' })
    expect(write(user(sound('audio/ogg'))).losses).toMatchObject([{ kind: 'dropped', reason: 'only-wav-and-mp3' }])
  })

  it('trap 53: tools are written in chat’s own shape', () => {
    const parameters = { type: 'object', properties: {} }
    expect(body({ tools: [{ type: 'function', name: 'f', parameters }] }).tools).toEqual([
      { type: 'function', function: { name: 'f', parameters } },
    ])
  })

  it('trap 54: each tool choice has its word, and none stays none', () => {
    const tools = [{ type: 'function', name: 'f' }] as const
    const choice = (toolChoice: NonNullable<CanonicalRequest['toolChoice']>) => body({ tools, toolChoice }).tool_choice
    expect(choice({ mode: 'required' })).toBe('required')
    expect(choice({ mode: 'none' })).toBe('none')
    expect(choice({ mode: 'required', only: ['f'] })).toEqual({ type: 'function', function: { name: 'f' } })
    expect(body({ tools, parallelToolCalls: false, toolChoice: { mode: 'auto' } })).toMatchObject({
      parallel_tool_calls: false,
      tool_choice: 'auto',
    })
  })

  it('trap 56: strict is not set where it was not asked for', () => {
    expect(body({ tools: [{ type: 'function', name: 'f', parameters: {} }] }).tools[0].function).not.toHaveProperty(
      'strict',
    )
  })

  it('trap 58: a JSON schema is a response_format, or JSON mode and a reported loss', () => {
    const text = { shape: 'schema', name: 'it', schema: { type: 'object' } } as const
    expect(body({ output: { text } }).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'it', schema: { type: 'object' } },
    })
    const plain = write({ output: { text } }, { json_schema: false })
    expect(plain.wire.body['response_format']).toEqual({ type: 'json_object' })
    expect(plain.losses.filter(({ kind }) => kind !== 'inserted')).toMatchObject([{ path: ['output', 'text'] }])
  })

  it('trap 59: the limit goes under the name the upstream knows', () => {
    expect(body({ sampling: { maxTokens: 9 } })).toMatchObject({ max_completion_tokens: 9 })
    expect(body({ sampling: { maxTokens: 9 } }, { limit_field: 'max_tokens' })).toMatchObject({ max_tokens: 9 })
  })

  it('trap 60: several candidates are all written', () => {
    expect(body({ output: { candidates: 3 } }).n).toBe(3)
    const two = result([], {
      candidates: [{ content: [{ type: 'text', text: 'a' }] }, { content: [{ type: 'text', text: 'b' }] }],
    })
    expect(written(two).choices.map((one: { message: JsonObject }) => one.message['content'])).toEqual(['a', 'b'])
  })

  it('trap 61: logprobs are asked for and told', () => {
    expect(body({ sampling: { logprobs: 2 } })).toMatchObject({ logprobs: true, top_logprobs: 2 })
    const told = result([{ type: 'text', text: 'a' }], {
      candidates: [{ content: [{ type: 'text', text: 'a' }], logprobs: [{ token: 'a', logprob: -1, top: [] }] }],
    })
    expect(written(told).choices[0].logprobs.content).toEqual([
      { token: 'a', logprob: -1, bytes: null, top_logprobs: [] },
    ])
  })

  it('trap 63: a cache marker stays on its part where the upstream knows it', () => {
    const marked: Part = { type: 'text', text: 'a', cache: { ttl: '1h' } }
    expect(body(user(marked), { cache: 'cache_control' }).messages[0].content).toEqual([
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
    expect(write(user(marked)).losses).toMatchObject([{ path: ['messages', 0, 'content', 0, 'cache'] }])
  })

  it('trap 63: the marker of a result, where agents set it, stands on its last text', () => {
    const read: Part = {
      type: 'tool-result',
      id: 'a',
      content: [{ type: 'text', text: 'Read.' }],
      cache: { ttl: '1h' },
    }
    const call: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }
    const messages = [
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [read] },
    ] as const
    expect(body({ messages }, { cache: 'cache_control' }).messages[1].content).toEqual([
      { type: 'text', text: 'Read.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
    expect(write({ messages }).losses).toContainEqual({
      kind: 'dropped',
      path: ['messages', 1, 'content', 0, 'cache'],
      reason: 'no-cache-markers-here',
    })
  })

  it('trap 65: a freeform tool is wrapped as a function where there is none, and its calls too', () => {
    const tools = [{ type: 'freeform', name: 'patch' }] as const
    const messages = [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'a', name: 'patch', arguments: '*** x', freeform: true }],
      },
    ] as const
    const { tools: wired, messages: said } = body({ tools, messages }, { custom_tools: false })
    expect(wired[0].function.parameters.required).toEqual(['input'])
    expect(said[0].tool_calls[0].function.arguments).toBe('{"input":"*** x"}')
    expect(body({ tools }).tools[0].type).toBe('custom')
  })

  it('trap 66: a hosted tool never goes out as a function without a name', () => {
    const { wire, losses } = write({ tools: [{ type: 'hosted', kind: 'web-search' }] })
    expect(wire.body).not.toHaveProperty('tools')
    expect(losses).toMatchObject([{ path: ['tools', 0], reason: 'no-hosted-tools' }])
  })
})

describe('errors', () => {
  it('trap 75: an error in the middle of a stream is an error event, and no finish follows', () => {
    const events = readStream(
      chunk({ content: 'a' }),
      { data: '{"error":{"message":"boom","type":"server_error"}}' },
      chunk({}, 'stop'),
      DONE,
    )
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { message: 'boom' } })
    const told = drain(writer.events!(REQUEST), events)
    expect(JSON.parse(told.at(-1)!.data)).toMatchObject({ error: { message: 'boom' } })
    expect(told.map(one => one.data).join()).not.toContain('"finish_reason":"stop"')
  })

  it('trap 77: a 200 with an error body is a failure of the kind it names', () => {
    const read = () =>
      reader.result!({ status: 200, headers: {}, body: { error: { message: 'slow down', code: 429 } } }, REQUEST)
    expect(read).toThrow(GatewayError)
    expect(() => read()).toThrow('slow down')
    try {
      read()
    } catch (thrown) {
      expect((thrown as GatewayError).error.kind).toBe('rate-limited')
    }
  })

  it('trap 77: so is an error in a choice without content, which OpenRouter sends when a vendor fails', () => {
    const choice = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }
    const read = (more: JsonObject) =>
      reader.result!({ status: 200, headers: {}, body: { id: 'x', choices: [{ ...choice, ...more }] } }, REQUEST)
    expect(() => read({ error: { message: 'Vendor failed', code: 502 } })).toThrow('Vendor failed')
    const message = { role: 'assistant', content: 'Half an answer' }
    expect(read({ error: { message: 'Vendor failed', code: 502 }, message }).candidates).toHaveLength(1)
  })

  it.each([
    [1002, 'rate-limited'],
    [1008, 'out-of-credit'],
    [1004, 'unauthenticated'],
    [2013, 'invalid-request'],
    [1000, 'upstream-failed'],
  ])('trap 77: so is the code %s of MiniMax, which has neither choices nor an error', (code, kind) => {
    const body = { id: 'x', choices: null, object: '', base_resp: { status_code: code, status_msg: 'no' } }
    const error = { kind, message: 'no' }
    expect(readStream({ data: JSON.stringify(body) }, DONE).at(-1)).toMatchObject({ type: 'error', error })
    const read = () => reader.result!({ status: 200, headers: {}, body }, REQUEST)
    expect(read).toThrow(expect.objectContaining({ error: expect.objectContaining(error) }))
  })

  it('arguments that are an object reach callers of the format as text', () => {
    const call = { id: 'a', type: 'function', function: { name: 'get', arguments: { a: 1 } } }
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } }
    const result = reader.result!({ status: 200, headers: {}, body: { id: 'x', choices: [choice] } }, REQUEST)
    const { body } = writer.result!(result, REQUEST).wire
    expect(JSON.stringify(body)).toContain(JSON.stringify({ name: 'get', arguments: '{"a":1}' }))
  })

  it('trap 78: 429 keeps its retry-after both ways', () => {
    const error = reader.error!({ status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow' } } })
    expect(error).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 7 })
    expect(writer.error!(error, 'r').headers).toEqual({ 'retry-after': '7' })
  })
})

describe('text in streams', () => {
  const texts = (got: CanonicalResult) => partsOf(got).map(part => (part.type === 'text' ? part.text : part.type))

  it('each chunk of Qwen-MT has the whole text so far', () => {
    const mt = (model: string, ...contents: string[]) =>
      texts(answer(...contents.map(content => chunk({ content }, null, { model })), chunk({}, 'stop', { model }), DONE))
    expect(mt('qwen-mt-plus', '', 'I', 'I am', 'I am here', 'I am here')).toEqual(['I am here'])
    expect(mt('qwen-mt-turbo', 'ha', 'haha')).toEqual(['haha'])
    expect(mt('qwen-mt-flash', 'ha', 'haha')).toEqual(['hahaha'])
  })

  it('a whole message behind the deltas repeats them, as of MiniMax-M3', () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: 'Hello', reasoning_content: 'hm', tool_calls: [call] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    const got = answer(
      chunk({ role: 'assistant', reasoning_content: 'hm' }),
      chunk({ content: 'Hello' }),
      chunk({ tool_calls: [call] }),
      chunk({}, null, { object: 'chat.completion', choices, usage: { prompt_tokens: 5, completion_tokens: 4 } }),
      DONE,
    )
    expect(partsOf(got)).toMatchObject([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hello' },
      { type: 'tool-call', arguments: '{}' },
    ])
    expect(got.usage).toMatchObject({ input: 5, output: 4 })
    expect(got.candidates[0]!.finish?.reason).toBe('tool-calls')
  })

  it('a whole message behind a delta with the role alone is read', () => {
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const got = answer(chunk({ role: 'assistant', content: '' }), chunk({}, null, { choices }), DONE)
    expect(texts(got)).toEqual(['Hello'])
  })
})
