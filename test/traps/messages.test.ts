import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { wrapReasoning } from '../../src/canonical/signature.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { messages as writer } from '../../src/egress/messages/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'
import { assistant, text, tool, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { result } from '../builders/results.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import {
  answerOf,
  asked,
  body,
  call,
  FUNCTION,
  lost,
  native,
  read,
  streamOf,
  thought,
  whole,
  wire,
  write,
} from './messages.ts'

/* Traps of requests, errors and headers in messages, each by its number. */

describe('reasoning', () => {
  const tools = [FUNCTION]
  const looped = (...before: Part[]) => [
    user(text('hi')),
    assistant(...before, call('a')),
    tool(answerOf('a', text('1'))),
  ]

  it('trap 26: without the signed thought before a call, there is no thinking by a budget for this request', () => {
    const asked = { messages: looped(thought(undefined)), tools, reasoning: { effort: 'high' } } as const
    const budget = write(asked, { thinking: 'budget' })
    expect(budget.wire.body['thinking']).toEqual({ type: 'disabled' })
    expect(budget.wire.body['output_config']).toBeUndefined()
    expect(budget.losses.map(({ reason }) => reason)).toContain('no-signed-thinking')
    expect(body({ ...asked, messages: looped(thought('sig')) }).thinking).toEqual({ type: 'adaptive' })
    expect(body({ ...asked, messages: looped(thought('sig')) }).messages[1].content[0]).toEqual({
      ...{ type: 'thinking', thinking: 'so', signature: 'sig' },
    })
  })

  it('trap 26: a caller of this format meets the same where another upstream thought before', () => {
    const [unsigned] = whole(result([thought(undefined)])).content
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
    const answered = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] }
    const turns = (...blocks: JsonObject[]) => ({
      messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [...blocks, call] }, answered],
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
    expect(native(turns(unsigned)).thinking).toEqual({ type: 'disabled' })
    expect(native(turns()).thinking).toEqual({ type: 'enabled', budget_tokens: 2000 })
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

  it('trap 30: signatures of other issuers and unsigned reasoning never reach the upstream', () => {
    for (const part of [thought('sig', 'contents'), thought(undefined)])
      expect(JSON.stringify(body({ messages: [user(text('hi')), assistant(part, text('a'))] }))).not.toContain('so')
    const enclosed = wrapReasoning([{ signature: { format: 'responses', value: 'x' } }], 'messages')
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
    const written = body({ reasoning: { budget: 500 }, sampling, tools })
    expect(written).toMatchObject({ thinking: { budget_tokens: 1024 }, max_tokens: 3000 })
    const forced = body({ reasoning: { budget: 500 }, tools, toolChoice }, { thinking: 'budget' })
    expect(forced).toMatchObject({ thinking: { type: 'disabled' }, tool_choice: { type: 'tool', name: 'f' } })
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
    const little = { reasoning: { budget: 8000 }, sampling: { maxTokens: 600 } }
    expect(body(little, { thinking: 'budget' }).thinking).toEqual({ type: 'disabled' })
    expect(body({}).max_tokens).toBe(32_000)
    expect(body({}, { max_tokens: 64 }).max_tokens).toBe(64)
    expect(() => reader.request!({ ...wire({}), body: { model: 'm', messages: [] } })).toThrow(GatewayError)
  })
})

describe('turns and parts', () => {
  it('trap 18: stop sequences go along', () => {
    expect(body({ sampling: { stop: ['END', ' '] } }).stop_sequences).toEqual(['END'])
  })

  it('trap 42: leading system turns are the system text, later ones stay where they may stand', () => {
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
    // The upstream accepts them only right after a user turn, and only if an assistant turn or nothing follows.
    expect(written.messages.map((turn: JsonObject) => turn['role'])).toEqual(['user', 'assistant', 'user'])
    const amid = body({ messages: [...messages.slice(2, 3), ...messages.slice(4, 5), ...messages.slice(3)] })
    expect(amid.messages.map((turn: JsonObject) => turn['role'])).toEqual(['user', 'system', 'assistant', 'user'])
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
    expect(writer.result!(two, REQUEST).losses.map(loss => loss.reason)).toContain('one-answer-only')
  })

  it('trap 62: what a client notes for this format goes to no other, and back where it stood', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cch=1;' },
      { type: 'text', text: 'Be brief.' },
    ]
    expect(native({ system }).system).toEqual(system)
    const asked = reader.request!(wire({ system }))
    const { wire: chat, losses } = WRITERS['chat']!.request!(asked, FOREIGN)
    expect(chat.body['messages']).toMatchObject([{ role: 'system', content: 'Be brief.' }, { role: 'user' }])
    expect(losses).toEqual([])
  })

  it('trap 63: cache markers stay on parts, tools and texts, and are at most four', () => {
    const cache = { ttl: '1h' }
    const marked = (words: string): Part => ({ type: 'text', text: words, cache })
    const written = body({
      messages: [{ role: 'system', content: [marked('s')] }, user(marked('a'), text('b'))],
      tools: [{ ...FUNCTION, cache }],
    })
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    expect(written.system[0].cache_control).toEqual(cache_control)
    expect(written.messages[0].content[0].cache_control).toEqual(cache_control)
    expect(written.tools[0].cache_control).toEqual(cache_control)
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
    expect(() => reader.result!({ status: 200, headers: {}, body }, REQUEST)).toThrow('Slow down.')
    expect(() => reader.result!({ status: 200, headers: {}, body: {} }, REQUEST)).toThrow(GatewayError)
  })

  it('trap 78: 529 is overload, and the time to wait comes through', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Full.' } }
    const error = reader.error!({ status: 529, headers: { 'retry-after': '7' }, body })
    expect(error).toMatchObject({ kind: 'overloaded', status: 529, retryAfterSeconds: 7 })
    expect(writer.error!(error, 'r')).toMatchObject({ status: 529, headers: { 'retry-after': '7' } })
    expect(writer.error!({ kind: 'overloaded', message: 'No channel.' }, 'r').status).toBe(503)
  })

  it('trap 79: betas go back unchanged, and are never made up', () => {
    const asked = reader.request!(wire({}, { 'anthropic-beta': 'a,b' }))
    expect(writer.request!(asked, NATIVE).wire.headers).toEqual({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a,b',
    })
    expect(write({}).wire.headers).toEqual({ 'anthropic-version': '2023-06-01' })
    const own = { ...wire({}), headers: { 'msgfmt-version': '2026-10-21' } }
    const any = { ...NATIVE, dialect: { version: 'caller' } }
    expect(writer.request!(reader.request!(own), any).wire.headers).toEqual({ 'anthropic-version': '2026-10-21' })
  })
})
