import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { fold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { responses as writer } from '../../src/egress/responses/index.ts'
import { responses as reader } from '../../src/ingress/responses/index.ts'
import { request as schema } from '../../src/ingress/responses/wire.ts'
import { NATIVE } from '../builders/write-options.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { holds, plain, same } from '../laws/support.ts'
import { request, result } from '../laws/wire/responses.ts'

describe('a request of the same format', () => {
  it('is sent unchanged, with no losses', () => {
    holds(request, asked => {
      const { wire, losses } = writer.request!(reader.request!(asked), NATIVE)
      same(wire.body, asked.body)
      same(losses, [])
      same([wire.path, wire.query, wire.headers], [asked.path.replace('/v1', ''), asked.query, asked.headers])
    })
  })

  it('is refused by the reader exactly where the schema refuses it, and the fault has a name', () => {
    const rubbish = fc.constantFrom<unknown>(1, 'x', true, [1], [{}], [['x']], {}, [{ type: 5 }], [{ role: 'king' }])
    holds(
      fc.tuple(request, rubbish, fc.nat()).map(([asked, value, at]) => spoil(plain(asked.body), value, at)),
      body => {
        const valid = v.safeParse(schema, body).success
        try {
          reader.request!({ path: '/responses', query: {}, headers: {}, body })
          expect(valid).toBe(true)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
          expect((thrown as GatewayError).error.kind).toBe('invalid-request')
          expect(valid).toBe(false)
        }
      },
      [{ model: 'm', input: [{ role: 'user', content: [{ type: 'input_image', prompt_cache_breakpoint: 1 }] }] }],
    )
  })
})

describe('an answer of the same format', () => {
  it('is sent unchanged, with no losses', () => {
    holds(result, body => {
      const read = reader.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = writer.result!(read, asked)
      same(wire.body, body)
      same(losses, [])
    })
  })

  it('is read or refused, whatever it is made of', () => {
    const rubbish = fc.constantFrom<unknown>(1, 'x', true, null, [1], [{}], {}, [{ type: 5 }], [{ role: 'king' }])
    holds(
      fc.tuple(result, rubbish, fc.nat()).map(([body, value, at]) => spoil(plain(body), value, at)),
      body => {
        try {
          writer.result!(reader.result!({ status: 200, headers: {}, body }, asked), asked)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
        }
      },
    )
  })
})

/** Returns the body with one of its values replaced. */
function spoil(body: JsonObject, value: unknown, at: number): JsonObject {
  const holders: { holder: Record<string, unknown>; key: string }[] = []
  const visit = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return
    for (const key of Object.keys(holder)) {
      holders.push({ holder: holder as Record<string, unknown>, key })
      visit((holder as Record<string, unknown>)[key])
    }
  }
  visit(body)
  const { holder, key } = holders[at % holders.length]!
  if (key !== '__proto__') holder[key] = value
  return body
}

test.each(['failed', 'in_progress'])('an image that never arrived passes through unchanged: %s', status => {
  const call = { type: 'image_generation_call', id: 'ig_1', status }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] }
  const done = { ...call, result: null }
  const wire = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...call, status: 'in_progress', result: null } },
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [done] } },
  ].map((event, sequence_number) => ({ event: event.type, data: JSON.stringify({ ...event, sequence_number }) }))
  const asked: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: true }
  const events = drain(reader.events!(asked), wire)
  const told = drain(WRITERS['responses']!.events!(asked), events).map(({ data }) => JSON.parse(data) as JsonObject)
  expect(told.find(({ type }) => type === 'response.output_item.done')?.['item']).toEqual(done)
  expect(told.some(({ type }) => type === 'response.image_generation_call.completed')).toBe(false)
  for (const caller of ['chat', 'messages', 'contents'])
    expect(() => drain(WRITERS[caller]!.events!(asked), events)).not.toThrow()
})

test('a failed answer has its usage', () => {
  const counts = { input_tokens: 3, output_tokens: 1, total_tokens: 4 }
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const usage = { ...counts, ...details }
  const begun = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], usage: null, error: null }
  const failed = { ...begun, status: 'failed', error: { code: 'server_error', message: 'Oh.' }, usage }
  const wire = [
    { type: 'response.created', response: { ...begun, status: 'in_progress' } },
    { type: 'response.failed', response: failed },
  ].map(event => ({ event: event.type, data: JSON.stringify(event) }))
  const events = drain(reader.events!(asked), wire)
  const told = drain(writer.events!(asked), events).map(({ data }) => JSON.parse(data) as JsonObject)
  expect(told.at(-1)).toMatchObject({ type: 'response.failed', response: failed })
})

test('an image in the message of an answer keeps its position', () => {
  const content = [{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' }]
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
  const body = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [message] }
  const answer = reader.result!({ status: 200, headers: {}, body }, asked)
  expect(writer.result!(answer, asked).wire.body).toMatchObject(body)
})

test('token logprobs of an item other than a message stay in it, streamed or whole', () => {
  const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }
  const text = { type: 'output_text', text: '', annotations: [] }
  const spoken = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] }
  const other = { type: 'agent_message', id: 'x', content: [{ ...text, logprobs: [token] }] }
  const response = {
    id: 'r',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [spoken, other],
  }
  const wire = [spoken, other].map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
  const events = [...wire, { type: 'response.completed', response }].map(event => ({ data: JSON.stringify(event) }))
  const streamed = fold(drain(reader.events!(asked), events))
  expect(reader.result!({ status: 200, headers: {}, body: response }, asked).candidates[0]!.logprobs).toBeUndefined()
  expect(streamed.candidates[0]!.logprobs).toBeUndefined()
})

test('an answer starts with the upstream’s start, whatever unknown events come before', () => {
  const response = { id: 'r', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
  const limits = { type: 'codex.rate_limits', left: 1 }
  const wire = [limits, { type: 'response.created', response }, { type: 'response.completed', response }]
  const [start, ...others] = drain(
    reader.events!(asked),
    wire.map(event => ({ data: JSON.stringify(event) })),
  )
  expect(start).toMatchObject({ type: 'result-start', id: 'r', model: 'm', createdAt: 1 })
  expect(others[0]).toEqual({ type: 'opaque', format: 'responses', value: limits })
})

test('any number of unknown events before an answer pass, after a substitute start', () => {
  const response = { id: 'r', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
  const many = Array.from({ length: 100 }, (_, left) => ({ type: 'codex.rate_limits', left }))
  const wire = [...many, { type: 'response.created', response }, { type: 'response.completed', response }]
  const events = drain(
    reader.events!(asked),
    wire.map(event => ({ data: JSON.stringify(event) })),
  )
  expect(events[0]).toMatchObject({ type: 'result-start' })
  const kept = events.flatMap(event => (event.type === 'opaque' ? [event.value['left']] : []))
  expect(kept).toEqual([...many.keys()])
})
