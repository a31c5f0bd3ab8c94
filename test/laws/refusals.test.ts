import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import { isObject, type Json, parseObject } from '../../src/canonical/node.ts'
import type { CanonicalResult, Finish } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { conversing, holds } from './support.ts'

/* Trap 113: a refusal stays a refusal in every format, whatever finish reason its upstream states. */

/** Field of the finish reason in each format, and its value for a refusal. */
const ENDS: {
  readonly [format: string]: {
    readonly field: string
    readonly words: readonly string[]
    readonly as?: string
    readonly reason?: string
  }
} = {
  chat: { field: 'finish_reason', words: ['stop', 'content_filter'] },
  responses: { field: 'status', words: ['completed'] },
  messages: { field: 'stop_reason', words: ['refusal'] },
  contents: { field: 'finishReason', words: ['SAFETY'] },
  // The format has no field for the words of a refusal: clients get them as text.
  converse: { field: 'stopReason', words: ['content_filtered'], as: 'text' },
  // It has no finish reason for one either.
  interactions: { field: 'status', words: ['completed'], as: 'text', reason: 'stop' },
  'cohere-chat': { field: 'finish_reason', words: ['COMPLETE'], as: 'text', reason: 'stop' },
}

/** Returns all values of a field, wherever it is. */
const valuesOf = (value: Json | undefined, field: string): Json[] =>
  Array.isArray(value)
    ? value.flatMap(one => valuesOf(one, field))
    : isObject(value)
      ? Object.entries(value).flatMap(([name, inner]) => (name === field ? [inner] : valuesOf(inner, field)))
      : []

const words = fc.string({ minLength: 1 }).filter(text => text.trim() !== '')
const finish: fc.Arbitrary<Finish> = fc.constantFrom<Finish>(
  { reason: 'stop' },
  { reason: 'stop', raw: 'stop' },
  { reason: 'refused' },
  { reason: 'refused', raw: 'stop' },
)
const refused: fc.Arbitrary<CanonicalResult> = fc
  .record({ before: fc.option(words, { nil: undefined }), refusal: words, finish })
  .map(({ before, refusal, finish }) => ({
    ...{ id: 'r', model: 'm', createdAt: 1 },
    candidates: [
      {
        content: [
          ...(before === undefined ? [] : [{ type: 'text', text: before } as Part]),
          { type: 'refusal', text: refusal },
        ],
        finish,
      },
    ],
  }))

const CONVERSING = conversing('events')

describe('a refusal is written with the format’s own word for one, and read back as one', () => {
  it('for each format of conversations', () => expect(Object.keys(ENDS).toSorted()).toEqual(CONVERSING.toSorted()))

  const check = (format: string, given: CanonicalResult, back: CanonicalResult, wire: Json) => {
    const { field, words, as, reason = 'refused' } = ENDS[format]!
    const ends = valuesOf(wire, field).filter(value => value !== null && value !== 'in_progress')
    expect(words).toContain(ends.at(-1))
    const [candidate] = back.candidates
    expect(candidate!.finish!.reason).toBe(reason)
    expect(candidate!.content.map(part => ({ type: part.type, text: 'text' in part && part.text }))).toEqual(
      given.candidates[0]!.content.map(part =>
        part.type === 'refusal' && as !== undefined ? { ...part, type: as } : part,
      ),
    )
  }

  it.each(CONVERSING)('%s, whole', format => {
    holds(refused, given => {
      const { wire } = WRITERS[format]!.result!(given, REQUEST)
      check(format, given, READERS[format]!.result!(wire, REQUEST), wire.body)
    })
  })

  it.each(CONVERSING)('%s, streamed', format => {
    holds(refused, given => {
      const wire = drain(WRITERS[format]!.events!(REQUEST), unfold(given))
      const back = fold(drain(READERS[format]!.events!(REQUEST), wire))
      check(
        format,
        given,
        back,
        wire.map(({ data }) => parseObject(data) ?? null),
      )
    })
  })
})

const TEXT = 'I’m sorry, but I cannot help with that.'
const chunk = (delta: Json, finish_reason: string | null = null): WireEvent => ({
  data: JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  }),
})

describe('what OpenAI sends for a refusal', () => {
  const message = { role: 'assistant', content: null, refusal: TEXT }
  const body = {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  }
  const STREAM = [
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ refusal: TEXT.slice(0, 9) }),
    chunk({ refusal: TEXT.slice(9) }),
    chunk({}, 'stop'),
    { data: '[DONE]' },
  ]

  it('trap 113: is SAFETY with its message for callers of contents, complete and streamed', () => {
    const whole = READERS['chat']!.result!({ status: 200, headers: {}, body }, REQUEST)
    const { wire } = WRITERS['contents']!.result!(whole, REQUEST)
    expect(wire.body['candidates']).toMatchObject([
      { content: { parts: [] }, finishReason: 'SAFETY', finishMessage: TEXT },
    ])
    const events = drain(READERS['chat']!.events!(REQUEST), STREAM)
    const out = drain(WRITERS['contents']!.events!(REQUEST), events).map(({ data }) => parseObject(data)!)
    expect(out).toHaveLength(1)
    expect(out[0]!['candidates']).toMatchObject([{ finishReason: 'SAFETY', finishMessage: TEXT }])
  })

  it('stays `stop` where it is written anew for callers of chat', () => {
    const events = drain(READERS['chat']!.events!(REQUEST), STREAM)
    const wire = drain(WRITERS['chat']!.events!(REQUEST), events).map(({ data }) => parseObject(data) ?? null)
    expect(valuesOf(wire, 'finish_reason').findLast(value => value !== null)).toBe('stop')
  })

  it('is cut short where the upstream says so, and calls are made where it calls', () => {
    const ended = (finish_reason: string, more = {}) =>
      READERS['chat']!.result!(
        {
          status: 200,
          headers: {},
          body: { ...body, choices: [{ index: 0, message: { ...message, ...more }, finish_reason }] },
        },
        REQUEST,
      ).candidates[0]!.finish!.reason
    expect(ended('length')).toBe('length')
    expect(
      ended('stop', { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
    ).toBe('tool-calls')
  })
})
