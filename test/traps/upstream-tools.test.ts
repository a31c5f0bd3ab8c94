import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { fold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { namedEvent } from '../builders/streams.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Tools that run at the upstream. Their calls are no calls for the caller. */
const OTHERS = ['chat', 'messages', 'contents']
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Wire = any

const X_SEARCH = { type: 'x_search', from_date: '2026-11-01' }
const SEARCHED = {
  ...{ type: 'custom_tool_call', id: 'ctc_1', call_id: 'xs_call_1', status: 'completed' },
  ...{ name: 'x_keyword_search', input: '{"query":"grok","limit":10}' },
}
const SPOKEN = {
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Here.', annotations: [], logprobs: [] }],
}
const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'grok', status: 'completed' },
  ...{ tools: [X_SEARCH], output: [SEARCHED, SPOKEN] },
}
const STREAM = [
  namedEvent('response.created', { response: { ...RESPONSE, status: 'in_progress', output: [] } }),
  namedEvent('response.output_item.added', {
    output_index: 0,
    item: { ...SEARCHED, status: 'in_progress', input: '' },
  }),
  namedEvent('response.custom_tool_call_input.delta', { output_index: 0, item_id: 'ctc_1', delta: SEARCHED.input }),
  namedEvent('response.custom_tool_call_input.done', { output_index: 0, item_id: 'ctc_1', input: SEARCHED.input }),
  namedEvent('response.output_item.done', { output_index: 0, item: SEARCHED }),
  namedEvent('response.output_item.added', {
    output_index: 1,
    item: { ...SPOKEN, status: 'in_progress', content: [] },
  }),
  namedEvent('response.output_item.done', { output_index: 1, item: SPOKEN }),
  namedEvent('response.completed', { response: RESPONSE }),
]

const whole = (body: JsonObject, asked = REQUEST) =>
  READERS['responses']!.result!({ status: 200, headers: {}, body }, asked)
const streamed = (to: string, wire: readonly WireEvent[], from = 'responses') =>
  drain(chain(READERS[from]!.events!(REQUEST), WRITERS[to]!.events!(REQUEST)), wire)

describe('what xAI’s own search did (trap 101)', () => {
  it('trap 101: is no call, and not why the answer ended, complete or streamed', () => {
    for (const result of [whole(RESPONSE), fold(drain(READERS['responses']!.events!(REQUEST), STREAM))]) {
      expect(result.candidates[0]!.content.map(({ type }) => type)).toEqual(['opaque', 'text'])
      expect(result.candidates[0]!.finish!.reason).toBe('stop')
    }
  })

  it('trap 101: comes to callers of other formats as nothing, told as lost', () => {
    for (const to of OTHERS) {
      const { wire, losses } = WRITERS[to]!.result!(whole(RESPONSE), REQUEST)
      expect(JSON.stringify(wire.body)).not.toContain('x_keyword_search')
      expect(losses).toContainEqual({
        ...{ kind: 'dropped', path: ['candidates', 0, 'content', 0], reason: 'only-in-responses' },
      })
      expect(JSON.stringify(streamed(to, STREAM))).not.toContain('x_keyword_search')
    }
  })

  it('trap 101: comes to callers of responses unchanged', () => {
    expect(WRITERS['responses']!.result!(whole(RESPONSE), REQUEST).wire.body).toEqual(RESPONSE)
    const events = streamed('responses', STREAM).map(({ data }): Wire => JSON.parse(data))
    const own = events.filter(one => one.output_index === 0)
    expect(own.map(({ type }) => type)).toEqual(STREAM.slice(1, 5).map(one => one.event))
    expect(own.at(-1).item).toEqual(SEARCHED)
    expect(events.at(-1).response.output[0]).toEqual(SEARCHED)
  })

  it('trap 101: is told apart from a call of a tool the caller declared', () => {
    const named = { type: 'freeform', name: 'x_keyword_search' } as const
    const called = (result: ReturnType<typeof whole>) => result.candidates[0]!.content[0]!.type
    expect(called(whole(RESPONSE, { ...REQUEST, tools: [named] }))).toBe('tool-call')
    expect(called(whole({ ...RESPONSE, tools: [{ type: 'custom', name: SEARCHED.name }, X_SEARCH] }))).toBe('tool-call')
    const group = { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: SEARCHED.name }] }
    expect(called(whole({ ...RESPONSE, tools: [group, X_SEARCH] }))).toBe('tool-call')
    expect(called(whole({ ...RESPONSE, tools: [] }))).toBe('tool-call')
    const { tools: _, ...untold } = RESPONSE
    expect(called(whole(untold))).toBe('tool-call')
    const opaque = { type: 'opaque', format: 'responses', value: X_SEARCH } as const
    expect(called(whole(untold, { ...REQUEST, tools: [opaque] }))).toBe('opaque')
    expect(called(whole(untold, { ...REQUEST, tools: [opaque, { ...named, name: 'Ein Name' }] }))).toBe('tool-call')
  })

  it('trap 101: comes back in a history as no call that wants a result', () => {
    const user = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    const body = { model: 'm', input: [user('What is new?'), SEARCHED, SPOKEN, user('And?')], tools: [X_SEARCH] }
    const request = READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    for (const to of OTHERS) {
      const { wire } = WRITERS[to]!.request!(request, FOREIGN)
      expect(JSON.stringify(wire.body)).not.toContain('x_keyword_search')
      expect(JSON.stringify(wire.body)).not.toContain('No result was recorded')
    }
    expect(WRITERS['responses']!.request!(request, NATIVE).wire.body).toEqual(body)
  })

  it.each([{ name: {} }, { input: 5 }, { call_id: [] }])('trap 101: is refused where it is malformed: %j', fault => {
    const body = { model: 'm', input: [{ ...SEARCHED, ...fault }, SPOKEN], tools: [X_SEARCH] }
    const read = () => READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    expect(read).toThrow(GatewayError)
  })
})

describe('what other upstreams’ own tools did', () => {
  it('trap 101: Anthropic’s search is no call', () => {
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'text', text: 'Here.' },
    ]
    const body = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage: {},
    }
    const result = READERS['messages']!.result!({ status: 200, headers: {}, body }, REQUEST)
    expect(result.candidates[0]!.finish!.reason).toBe('stop')
    for (const to of ['chat', 'contents'])
      expect(JSON.stringify(WRITERS[to]!.result!(result, REQUEST).wire.body)).not.toContain('srvtoolu_1')
    const { output } = WRITERS['responses']!.result!(result, REQUEST).wire.body
    expect(output).toMatchObject([{ type: 'web_search_call' }, { type: 'message' }])
  })

  it('trap 101: Google’s own calls and the code it ran are no calls', () => {
    const parts = [
      { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 'a', args: { queries: ['a'] } } },
      { toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', id: 'a', response: {} } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { text: 'Here.' },
    ]
    const body = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] }
    const result = READERS['contents']!.result!({ status: 200, headers: {}, body }, REQUEST)
    expect(result.candidates[0]!.finish!.reason).toBe('stop')
    expect(result.candidates[0]!.content.some(({ type }) => type === 'tool-call')).toBe(false)
    for (const to of ['chat', 'responses', 'messages'])
      expect(JSON.stringify(WRITERS[to]!.result!(result, REQUEST).wire.body)).not.toContain('GOOGLE_SEARCH_WEB')
  })
})
