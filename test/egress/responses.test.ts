import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { responses as writer } from '../../src/egress/responses/index.ts'
import { responses as reader } from '../../src/ingress/responses/index.ts'
import { namedEvent } from '../builders/streams.ts'
import { NATIVE } from '../builders/write-options.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { holds, plain, same } from '../laws/support.ts'
import { result } from '../laws/wire/responses.ts'

const parsed = (events: readonly { data: string }[]): JsonObject[] =>
  events.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data))

const ANSWER = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed' }
/** Splits every delta into chunks of at most `size` characters. */
const cut = (events: Iterable<CanonicalEvent>, size: number): CanonicalEvent[] =>
  [...events].flatMap((event): CanonicalEvent[] => {
    if (event.type !== 'part-delta') return [event]
    const pieces = event.append.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    return pieces.map(append => ({ ...event, append }))
  })

describe('a stream of this format', () => {
  it('adds up to the whole answer, however its texts are split', () => {
    const finished = result.filter(body => body['status'] === 'completed')
    holds(fc.tuple(finished, fc.integer({ min: 1, max: 4 })), ([body, size]) => {
      const read = reader.result!({ status: 200, headers: {}, body }, asked)
      const wire = parsed(drain(writer.events!(asked), cut(unfold(read), size)))
      const { output, status } = wire.at(-1)!['response'] as JsonObject
      same({ output, status }, { output: body['output'], status: 'completed' })
    })
  })

  it.each(['early', ''])('is repeated event by event, reasoning signed %j at its start', early => {
    const item = { id: 'rs_1', type: 'reasoning', encrypted_content: 'late' }
    const at = { item_id: 'rs_1', output_index: 0 }
    const summary = ['First.', 'Then.'].map(text => ({ type: 'summary_text', text }))
    const pieces = summary.flatMap((part, summary_index) => [
      namedEvent('response.reasoning_summary_part.added', { ...at, summary_index, part: { ...part, text: '' } }),
      namedEvent('response.reasoning_summary_text.delta', { ...at, summary_index, delta: part.text }),
      namedEvent('response.reasoning_summary_text.done', { ...at, summary_index, text: part.text }),
      namedEvent('response.reasoning_summary_part.done', { ...at, summary_index, part }),
    ])
    const begun = { ...ANSWER, status: 'in_progress', output: [] }
    const said = [
      namedEvent('response.created', { response: begun }),
      namedEvent('response.in_progress', { response: begun }),
      namedEvent('response.output_item.added', {
        output_index: 0,
        item: { ...item, encrypted_content: early, summary: [] },
      }),
      ...pieces,
      namedEvent('response.output_item.done', { output_index: 0, item: { ...item, summary } }),
      namedEvent('response.completed', { response: { ...ANSWER, output: [{ ...item, summary }] } }),
    ]
    const heard = drain(reader.events!(asked), said)
    const numbered = parsed(said).map((event, sequence_number) => ({ ...event, sequence_number }))
    same(parsed(drain(writer.events!(asked), heard)), numbered)
  })

  it('keeps its text and its error if it failed', () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
    const error = { code: 'server_error', message: 'It broke.' }
    const heard = drain(reader.events!(asked), [
      namedEvent('response.created', { response: { ...ANSWER, status: 'in_progress', output: [] } }),
      namedEvent('response.output_item.added', { output_index: 0, item }),
      namedEvent('response.output_text.delta', {
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Hel',
        logprobs: [],
      }),
      namedEvent('response.failed', { response: { ...ANSWER, status: 'failed', error, output: [] } }),
    ])
    const last = parsed(drain(writer.events!(asked), heard)).at(-1)!
    expect(last['type']).toBe('response.failed')
    expect(last['response']).toMatchObject({
      status: 'failed',
      error,
      output: [{ id: 'msg_1', status: 'incomplete', content: [{ text: 'Hel' }] }],
    })
  })
})

describe('an answer of another format', () => {
  it('has an image as a call of the image generation tool', () => {
    const source = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
    const answer = {
      ...{ id: 'r', model: 'm', createdAt: 1 },
      candidates: [
        { content: [{ type: 'media', kind: 'image', source } as const], finish: { reason: 'stop' } as const },
      ],
    }
    const drawn = {
      type: 'image_generation_call',
      id: 'ig_r_0',
      status: 'completed',
      result: 'AAAA',
      output_format: 'png',
    }
    expect(plain(writer.result!(answer, asked).wire.body['output'])).toEqual([drawn])
    const last = parsed(drain(writer.events!(asked), unfold(answer))).at(-1)!
    expect((last['response'] as JsonObject)['output']).toEqual([drawn])
  })
})

describe('a history that the gateway stored', () => {
  const ask = (input: readonly JsonObject[]) =>
    reader.request!({ path: '/v1/responses', query: {}, headers: {}, body: { model: 'm', input } })
  const question = { role: 'user', content: 'Hi' }
  const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'x' }

  it('has no reasoning that ends a turn, as that of an answer which was cut while the model thought', () => {
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'ok' }
    const stored = ask([question, thought, call, output, thought]).messages
    const next = ask([question])
    const { wire } = writer.request!({ ...next, messages: [...stored, ...next.messages] }, NATIVE)
    same(wire.body['input'], [question, thought, call, output, question])
  })
})
