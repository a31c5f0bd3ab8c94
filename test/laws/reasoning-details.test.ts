import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from './arbitrary-result.ts'
import { EVERY_ECHO, eventsOf } from './echo.ts'
import { read } from './returned.ts'
import { holds, plain } from './support.ts'

/*
 * Upstreams such as OpenRouter demand the `reasoning_details` of an answer back with its calls (docs/wire/chat.md): they
 * get them from callers of every format whose answers have a slot for signatures.
 */

const CALLERS = ['messages', 'contents', 'responses', 'converse', 'interactions'] as const

const words = fc.constantFrom('I', ' think', '\n', '“so”', '😀')
const thought = fc.record({ pieces: fc.array(words, { minLength: 1, maxLength: 3 }), signature: fc.base64String() })
const secret = fc.base64String({ minLength: 4 })

/** One step of the model: what it thinks, and then says or calls. */
interface Step {
  readonly thought: { readonly pieces: readonly string[]; readonly signature: string } | null
  readonly encrypted: string | null
  readonly says: 'text' | 'call'
  /** Whether the encrypted reasoning arrives behind what it belongs to, as of a call that the model ended later. */
  readonly late: boolean
}
const steps = fc.array(
  fc.record<Step>({
    thought: fc.option(thought),
    encrypted: fc.option(secret),
    says: fc.constantFrom('text', 'call'),
    late: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
)

interface Piece {
  readonly delta: JsonObject
  readonly details: readonly JsonObject[]
}

/** The chunks of an answer, and the details as a client of the upstream's own puts them together. */
function answerOf(all: readonly Step[]): {
  readonly chunks: readonly Piece[]
  readonly details: readonly JsonObject[]
} {
  const chunks: Piece[] = []
  const details: JsonObject[] = []
  let calls = 0
  for (const [index, { thought: one, encrypted, says, late }] of all.entries()) {
    const common = { format: 'f-v1', index }
    if (one !== null) {
      for (const text of one.pieces)
        chunks.push({ delta: { reasoning: text }, details: [{ type: 'reasoning.text', text, ...common }] })
      const signed = one.signature === '' ? {} : { signature: one.signature }
      chunks.push({ delta: { reasoning: null }, details: [{ type: 'reasoning.text', ...signed, ...common }] })
      details.push({ type: 'reasoning.text', text: one.pieces.join(''), ...common, ...signed })
    }
    const hidden =
      encrypted === null ? [] : [{ type: 'reasoning.encrypted', data: encrypted, id: `r${index}`, ...common }]
    details.push(...hidden)
    const call = {
      index: calls,
      id: `c${index}`,
      type: 'function',
      function: { name: 'f', arguments: `{"a":${index}}` },
    }
    const delta = says === 'text' ? { content: `Said ${index}.` } : { tool_calls: [call] }
    if (says === 'call') calls++
    chunks.push(
      ...(late
        ? [
            { delta, details: [] },
            { delta: {}, details: hidden },
          ]
        : [{ delta, details: hidden }]),
    )
  }
  return { chunks, details }
}

const isSigned = ({ signature, data }: JsonObject): boolean => (signature ?? data ?? '') !== ''

/** The answer as the gateway reads it from a stream. */
function streamed(chunks: readonly Piece[]): readonly JsonObject[] {
  const head = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm' }
  return [
    ...chunks.map(({ delta, details }) => ({
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', ...delta, reasoning_details: details }, finish_reason: null }],
    })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
}

/** The same answer as a whole. */
function whole(chunks: readonly Piece[], details: readonly JsonObject[]): JsonObject {
  const joined = (field: string): string => chunks.map(({ delta }) => delta[field] ?? '').join('')
  const tool_calls = chunks.flatMap(({ delta }) => (delta['tool_calls'] as JsonObject[]) ?? [])
  const message = {
    ...{ role: 'assistant', content: joined('content'), reasoning: joined('reasoning'), reasoning_details: details },
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
  return {
    id: 'a',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  }
}

const channel = { models: { named: new Map(), patterns: [] } }

/** Returns the upstream's own turn in the request that follows. */
function returnedTurn(caller: string, echoed: readonly JsonObject[], dialect: JsonObject): JsonObject {
  const target = { channel, format: { format: 'chat', dialect }, native: false, upstreamModel: 'm' }
  const body = plain(EVERY_ECHO[caller]!.request(echoed))
  const { wire } = prepare(read(caller, body), target as never)
  return (wire.body['messages'] as readonly JsonObject[]).find(({ role }) => role === 'assistant')!
}

const dialects = fc.constantFrom<JsonObject>({ reasoning_field: 'reasoning' }, {})

describe('reasoning details of a chat upstream come back to it', () => {
  it.each(CALLERS)('from a caller of %s', caller => {
    holds(fc.tuple(steps, dialects), ([all, dialect]) => {
      const { chunks, details } = answerOf(all)
      const events = streamed(chunks).map(chunk => ({ data: JSON.stringify(chunk) }))
      const canonical = drain(READERS['chat']!.events!(asked), [...events, { data: '[DONE]' }])
      const ofStream = EVERY_ECHO[caller]!.streamed(eventsOf(caller, drain(WRITERS[caller]!.events!(asked), canonical)))
      const wire = { status: 200, headers: {}, body: plain(whole(chunks, details)) }
      const result: CanonicalResult = READERS['chat']!.result!(wire, asked)
      const ofWhole = EVERY_ECHO[caller]!.whole(plain(WRITERS[caller]!.result!(result, asked).wire.body))
      const unfolded = EVERY_ECHO[caller]!.streamed(
        eventsOf(caller, drain(WRITERS[caller]!.events!(asked), unfold(result))),
      )
      // Nobody demands unsigned details behind the last signed one.
      const demanded = details.findLastIndex(isSigned) + 1
      for (const echoed of [ofStream, ofWhole, unfolded]) {
        const got = returnedTurn(caller, echoed, dialect)['reasoning_details'] ?? []
        expect(got).toEqual(details.slice(0, Math.max(demanded, (got as readonly JsonObject[]).length)))
        if (demanded === 0) expect(got).toEqual([])
      }
    })
  })
})
