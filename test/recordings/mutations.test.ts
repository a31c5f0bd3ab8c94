import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { fold } from '../../src/canonical/fold.ts'
import { lose } from '../../src/canonical/loss.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { grammarFault } from '../laws/grammar.ts'
import { meaning } from '../laws/same.ts'
import { plain, RUNS, same } from '../laws/support.ts'
import { claims, essence } from './essence.ts'
import { mutated } from './mutated.ts'
import {
  asAccepted,
  askedBy,
  countingTokens,
  formatsOf,
  isAnswer,
  present,
  type Recording,
  recorded,
  recordingsOf,
  where,
} from './recording.ts'

/*
 * Recordings with values replaced by values of other recordings, from the same path of the same format, or left out.
 * Future answers of providers are combinations of today's.
 */

const holds = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void): void =>
  fc.assert(
    fc.property(arbitrary, value => check(value)),
    { numRuns: RUNS },
  )

/** Returns the value that was read. Undefined if the reader properly reports an error. */
function readOrRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** The ids of the calls in an answer of any format. */
function callIdsIn(value: Json | undefined): readonly (Json | undefined)[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(callIdsIn)
  if (!isObject(value)) return []
  const { id, toolUseId, type, input, function: called } = value
  if (toolUseId !== undefined || (input !== undefined && type !== 'tool_use' && 'name' in value)) return [toolUseId]
  if (type === 'tool_use' || called !== undefined) return [id]
  return Object.values(value).flatMap(callIdsIn)
}

/** Returns true if a call of an answer gets an id of its own, because it has none or that of another (trap 6). */
function hasAmbiguousCalls(body: JsonObject): boolean {
  const ids = callIdsIn(body)
  return ids.some(id => typeof id !== 'string' || id === '') || new Set(ids).size < ids.length
}

const FORMATS = formatsOf('events')

describe.skipIf(!present).each(recorded(FORMATS))(`changed recordings of %s${where}`, format => {
  const asking = recordingsOf(format).flatMap(({ request }) => (request === undefined ? [] : [request]))
  const answering = recordingsOf(format).filter(one => isAnswer(one) && one.sse === undefined)
  const requests = asking.length === 0 ? [] : asking.map(({ body }) => body)
  const bodies = answering.map(({ body }) => body!)
  const streaming = recordingsOf(format).filter(({ sse }) => sse !== undefined && sse.length < 60_000)
  const streams = streaming.map(valuesOf)

  test.skipIf(requests.length === 0)('requests are sent unchanged', () => {
    holds(mutated(requests), ([index, body]) => {
      const asked = readOrRefused(() => READERS[format]!.request!({ ...asking[index]!, body }))
      if (asked === undefined) return
      const { wire, losses } = WRITERS[format]!.request!(asked, NATIVE)
      same(wire.body, asAccepted(body))
      expect(losses).toEqual([])
    })
  })

  test.skipIf(requests.length === 0).each(FORMATS.filter(other => other !== format))(
    'requests go to %s and are read back minus their losses',
    other => {
      holds(mutated(requests), ([index, body]) => {
        const asked = readOrRefused(() => READERS[format]!.request!({ ...asking[index]!, body }))
        if (asked === undefined) return
        const written = readOrRefused(() => WRITERS[other]!.request!(asked, FOREIGN))
        if (written === undefined) return
        const back = READERS[other]!.request!(plain(written.wire))
        same(meaning(back), meaning(lose(asked, written.losses)))
      })
    },
  )

  test.skipIf(bodies.length === 0)('answers are sent unchanged', () => {
    holds(mutated(bodies), ([index, body]) => {
      if (hasAmbiguousCalls(body)) return
      const asked = askedBy(answering[index] as Recording)
      const result = readOrRefused(() => READERS[format]!.result!({ status: 200, headers: {}, body }, asked))
      if (result === undefined) return
      const { wire, losses } = WRITERS[format]!.result!(result, asked)
      same(wire.body, body)
      expect(losses).toEqual([])
    })
  })

  test.skipIf(bodies.length === 0).each(FORMATS.filter(other => other !== format))(
    'answers go to a caller of %s and keep what can be said',
    caller => {
      holds(mutated(bodies), ([index, body]) => {
        const asked: CanonicalRequest = askedBy(answering[index] as Recording)
        const read = readOrRefused(() => READERS[format]!.result!({ status: 200, headers: {}, body }, asked))
        if (read === undefined || read.task !== undefined) return
        const result = { id: 'id', model: 'm', createdAt: 1_700_000_000, ...read }
        const { wire, losses } = WRITERS[caller]!.result!(result, asked)
        const back = READERS[caller]!.result!(plain(wire), asked)
        expect(plain(essence(back))).toMatchObject(plain(claims(lose(result, losses))))
      })
    },
  )

  test.skipIf(streaming.length === 0).each(FORMATS)(
    'streams go to a caller of %s well-formed, and keep what can be said',
    caller => {
      holds(mutated(streams), ([index, { events }]) => {
        const asked = { ...askedBy(streaming[index]!), stream: true }
        const wire = (events as readonly JsonObject[]).map(eventOf)
        const read = drain(READERS[format]!.events!(asked), wire)
        expect(grammarFault(read)).toBeUndefined()
        const back = drain(
          chain(WRITERS[caller]!.events!(countingTokens(asked)), READERS[caller]!.events!(asked)),
          read,
        )
        expect(grammarFault(back)).toBeUndefined()
        const result = fold(read)
        if (result.error !== undefined) return void expect(fold(back).error).toBeDefined()
        // Streams of responses repeat everything. With changes, they contradict themselves.
        if (format === 'responses') return
        const { losses } = WRITERS[caller]!.result!(result, asked)
        expect(plain(essence(fold(back)))).toMatchObject(plain(claims(lose(result, losses))))
      })
    },
  )
})

/** Returns the events of a stream as values, with parsed data if it is JSON. */
const valuesOf = ({ sse }: Recording): JsonObject => ({
  events: drain(eventParser(), [Buffer.from(sse!)]).map(({ event, data }) => ({
    ...(event === undefined ? {} : { event }),
    said: parseObject(data) ?? data,
  })),
})

const eventOf = ({ event, said }: JsonObject): WireEvent => ({
  ...(typeof event === 'string' ? { event } : {}),
  data: typeof said === 'string' ? said : JSON.stringify(said),
})
