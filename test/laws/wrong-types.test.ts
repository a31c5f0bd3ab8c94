import { globSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { checkedResult } from '../../src/gateway/read-result.ts'
import { READERS } from '../../src/ingress/index.ts'
import { bodiesIn, eventsIn } from '../builders/fixtures.ts'
import { asked as ASKED, streamed } from './arbitrary-result.ts'
import { grammarFault } from './grammar.ts'
import { journey, orRefused, streamedTo, told, writersFor } from './journeys.ts'
import { spoiled } from './spoiled.ts'
import { formatsWith, holds } from './support.ts'
import { ANSWERS, WIRES } from './wires.ts'
import { jobsWith, WORKS } from './works.ts'

/*
 * A value with a wrong type inside is refused or read, and everything that was read can be written. No code uses a
 * field without a check of its type. Another law covers the readers alone. This one includes all steps after them.
 */

/** An object without a string form, although every template and every `String()` needs one. */
const WORDLESS = { toString: 'zz' }

describe('wrong types: a caller’s request is refused, or written for whoever may answer it', () => {
  it.each(formatsWith('request'))('%s', format => {
    const made = WIRES[format]!.request
    const known = fc.tuple(made, fc.constantFrom(...bodiesIn(format, 'request.json')))
    const whole = fc.oneof(
      made,
      known.map(([wire, body]) => ({ ...wire, body })),
    )
    const wires = whole.chain(wire => spoiled(fc.constant(wire.body)).map(body => ({ ...wire, body })))
    holds(wires, wire => {
      const request = orRefused(() => READERS[format]!.request!(wire))
      if (request !== undefined) journey(format, request)
    })
  })

  it('code that ran at the upstream, in no language', () => {
    const parts = [{ executableCode: { language: WORDLESS, code: 'a' } }, { codeExecutionResult: { output: 'b' } }]
    const contents = [{ role: 'model', parts }]
    const wire = { path: '/v1beta/models/m:generateContent', query: {}, headers: {}, body: { contents } }
    journey('contents', READERS['contents']!.request!(wire))
  })
})

describe('wrong types: an upstream’s answer is no answer, or told to whoever asked', () => {
  it.each(ANSWERS)('%s', (_, format, answers, asked) => {
    const work = workOf(asked)
    const known = work === 'conversation' ? bodiesIn(format, 'result.json') : []
    const bodies = known.length === 0 ? answers : fc.oneof(answers, fc.constantFrom(...known))
    holds(spoiled(bodies), body => heard(format, body, asked))
  })

  it('code that ran there, in no language', () => {
    const content = { role: 'model', parts: [{ executableCode: { language: WORDLESS, code: 'a' } }] }
    heard('contents', { candidates: [{ content, finishReason: 'STOP' }] }, ASKED)
  })

  it('a block of no type', () => {
    const content = [{ type: WORDLESS, text: 'a' }]
    heard('messages', { type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }, ASKED)
  })
})

function heard(format: string, body: JsonObject, asked: CanonicalRequest): void {
  const read = () => READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
  const result = orRefused(() => checkedResult(read(), asked, false))
  if (result !== undefined) for (const to of writersFor(workOf(asked))) told(to, result, asked)
}

describe('wrong types: an upstream’s stream is told to whoever asked', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    const written = streamed(result).map(({ events }) => drain(WRITERS[format]!.events!(asked), events))
    const known = work === 'conversation' ? globSync(`fixtures/${format}/*.events.sse`).map(eventsIn) : []
    const streams = known.length === 0 ? written : fc.oneof(written, fc.constantFrom(...known))
    holds(streams.chain(spoiledStream), wire => followed(format, wire, asked))
  })

  it('a citation of a page whose number is none', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example' } }],
      groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [{ toString: 'zz' }] }],
    }
    const candidate = { content: { parts: [{ text: 'a' }] }, groundingMetadata, finishReason: 'STOP' }
    followed('contents', [{ data: JSON.stringify({ candidates: [candidate] }) }], ASKED)
  })

  it('a call in pieces, signed with what is no signature', () => {
    const call = (functionCall: JsonObject, more: JsonObject = {}): WireEvent => ({
      data: JSON.stringify({ candidates: [{ content: { parts: [{ functionCall, ...more }] } }] }),
    })
    const piece = { jsonPath: '$.a', stringValue: 'b' }
    for (const odd of [{ thoughtSignature: -1 }, { thoughtSignature: {} }, { thoughtSignature: [] }])
      followed('contents', [call({ name: 'f', willContinue: true }, odd), call({ partialArgs: [piece] })], ASKED)
    followed('contents', [call({ name: 'f', id: {}, willContinue: true }), call({ partialArgs: [piece] })], ASKED)
  })
})

/** Checks that the read stream follows the grammar of events, and that every writer accepts it. */
function followed(format: string, wire: readonly WireEvent[], asked: CanonicalRequest): void {
  const events = drain(READERS[format]!.events!(asked), wire)
  expect(grammarFault(events)).toBeUndefined()
  fold(events)
  for (const to of writersFor(workOf(asked))) {
    const written = streamedTo(to, events, asked)
    if (written === undefined || READERS[to]!.events === undefined) continue
    expect({ to, fault: grammarFault(drain(READERS[to]!.events!(asked), written)) }).toEqual({ to, fault: undefined })
  }
}

/** Returns the stream with some of its events changed, lost, doubled or late. */
function spoiledStream(events: readonly WireEvent[]): fc.Arbitrary<readonly WireEvent[]> {
  return fc.oneof(
    { weight: 3, arbitrary: withOneSpoiled(events) },
    { weight: 1, arbitrary: withOneSpoiled(events).chain(withOneSpoiled) },
    { weight: 1, arbitrary: disordered(events) },
    { weight: 1, arbitrary: withOneSpoiled(events).chain(disordered) },
  )
}

function withOneSpoiled(events: readonly WireEvent[]): fc.Arbitrary<readonly WireEvent[]> {
  return fc.nat(Math.max(events.length - 1, 0)).chain(at => {
    const body = parseObject(events[at]?.data ?? '')
    if (body === undefined) return fc.constant(events)
    return spoiled(fc.constant(body)).map(bad => events.with(at, { ...events[at]!, data: JSON.stringify(bad) }))
  })
}

/** Loses one event, doubles it, or moves it to a later position. */
const disordered = (events: readonly WireEvent[]): fc.Arbitrary<readonly WireEvent[]> =>
  fc.tuple(fc.nat(), fc.nat(), fc.boolean()).map(([from, to, stays]) => {
    if (events.length === 0) return events
    const [event] = events.slice(from % events.length)
    const rest = stays ? [...events] : events.filter(one => one !== event)
    return to % 3 === 0 ? rest : rest.toSpliced(to % (rest.length + 1), 0, event!)
  })
