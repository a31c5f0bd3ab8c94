import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { RESPONSE_HEAD } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { asked as bare } from '../laws/arbitrary-result.ts'
import { plain } from '../laws/support.ts'
import { askedBy, formatsOf, isAnswer, present, type Recording, recordingsOf, where } from '../recordings/recording.ts'
import { faultsOfEvent, faultsOfRequest, faultsOfResult, HAS_DESCRIPTIONS, PUBLISHED } from './published.ts'

/* Recorded requests and answers of callers and providers, translated to every other format. */

/** Formats of conversations whose publishers describe them with a schema. */
const FORMATS = formatsOf('events').filter(format => PUBLISHED[format]?.conversation !== undefined)
const pairs = formatsOf('events').flatMap(from => FORMATS.filter(to => to !== from).map(to => [from, to] as const))

/** Reports every fault with the recordings that have it. */
function expectNone(recordings: readonly Recording[], faultsIn: (recording: Recording) => readonly string[]): void {
  const found: { [fault: string]: string[] } = {}
  for (const recording of recordings)
    for (const fault of new Set(faultsIn(recording))) found[fault] = [...(found[fault] ?? []), recording.name]
  expect(found).toEqual({})
}

const readAnswer = ({ format, body }: Recording, asked: CanonicalRequest) =>
  READERS[format]!.result!({ status: 200, headers: {}, body: body! }, asked)

const isPart = ({ type, error }: JsonObject): boolean => type !== 'error' && type !== 'ping' && error === undefined

const eventsIn = (events: readonly WireEvent[]): readonly JsonObject[] =>
  events
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as JsonObject)
    .filter(isPart)

describe.skipIf(!HAS_DESCRIPTIONS || !present)(`recordings are told as published${where}`, () => {
  it.each(pairs)('requests of %s to %s', (from, to) => {
    const published = PUBLISHED[to]!.conversation!
    const asking = recordingsOf(from).filter(({ request }) => request !== undefined)
    expectNone(asking, ({ request }) => {
      try {
        const { wire } = WRITERS[to]!.request!(repair(READERS[from]!.request!(request!)).request, FOREIGN)
        return faultsOfRequest(published, wire, plain(wire.body))
      } catch (thrown) {
        if (thrown instanceof GatewayError) return []
        throw thrown
      }
    })
  })

  it.each(pairs)('answers of %s to callers of %s', (from, to) => {
    const published = PUBLISHED[to]!.conversation!
    const wholes = recordingsOf(from).filter(one => isAnswer(one) && one.sse === undefined)
    expectNone(wholes, recording => {
      // Only callers of its own format get an answer about unfinished work.
      if (readAnswer(recording, askedBy(recording)).task !== undefined) return []
      const result = { ...RESPONSE_HEAD, ...readAnswer(recording, askedBy(recording)) }
      return faultsOfResult(published, plain(WRITERS[to]!.result!(result, bare).wire.body))
    })
  })

  it.each(pairs)('streams of %s to callers of %s', (from, to) => {
    const published = PUBLISHED[to]!.conversation!
    const streams = recordingsOf(from).filter(one => isAnswer(one) && one.sse !== undefined)
    expectNone(streams, recording => {
      const through = chain(READERS[from]!.events!(askedBy(recording)), WRITERS[to]!.events!(bare))
      const events = drain(through, drain(eventParser(), [Buffer.from(recording.sse!)]))
      return eventsIn(events).flatMap(event => faultsOfEvent(published, event))
    })
  })

  it.each(FORMATS)('answers of %s to callers of its own say what came, nothing more and nothing less', format => {
    const published = PUBLISHED[format]!.conversation!
    const wholes = recordingsOf(format).filter(one => isAnswer(one) && one.sse === undefined)
    expectNone(wholes, recording => {
      const asked = askedBy(recording)
      const came = new Set(faultsOfResult(published, recording.body))
      const { wire } = WRITERS[format]!.result!(readAnswer(recording, asked), asked)
      return faultsOfResult(published, plain(wire.body)).filter(fault => !came.has(fault))
    })
  })
})
