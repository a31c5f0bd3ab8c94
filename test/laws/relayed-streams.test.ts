import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { EVENT_STREAM } from '../../src/egress/transport/sse.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { streamed } from './arbitrary-result.ts'
import { isCutAnew } from './exceptions.ts'
import { relayed } from './relayed.ts'
import { resultMeaning } from './same.ts'
import { holds, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

/* Events of an upstream of the caller's own format, as the gateway passes them on. */

/** Adds unknown fields to each event. */
const withUnknown = ({ data, ...event }: WireEvent): WireEvent => {
  const body = parseObject(data)
  if (body === undefined) return { ...event, data }
  const inner = Object.entries(body).map(([field, value]) =>
    ['delta', 'message'].includes(field) ? [field, { ...(value as JsonObject), x_inner: { a: null } }] : [field, value],
  )
  return { ...event, data: JSON.stringify({ ...Object.fromEntries(inner), x_field: 1 }, null, 1) }
}

const relayable = (format: string, result: Parameters<typeof streamed>[0]) =>
  streamed(result).filter(({ events }) => !isCutAnew(format, events))

const RELAYING = jobsWith('events').filter(([format]) => WRITERS[format]!.nativeEvents !== undefined)

describe('relayed: a stream leaves unchanged, whatever is in it', () => {
  it.each(RELAYING)('%s: %s', (format, work) => {
    const { asked: request, result } = WORKS[work]!
    holds(relayable(format, result), ({ events }) => {
      const wire = drain(WRITERS[format]!.events!(request), events).map(withUnknown)
      expect(relayed(format, request, wire, wire.length)).toEqual(wire)
    })
  })
})

/** Text that upstreams and proxies send between events to keep a connection open. */
const SIGNS = [': keepalive\n\n', 'data:\n\n', 'data: \n\n', 'event: keepalive\ndata:\n\n', 'event: ping\n\n', '\n\n']

const textOf = (wire: readonly WireEvent[]): string => wire.map(event => EVENT_STREAM.frame(event, false)).join('')

describe('trap 115: signs of life in a stream change no byte of its events', () => {
  it.each(RELAYING)('%s: %s', (format, work) => {
    const { asked: request, result } = WORKS[work]!
    const signs = fc.array(fc.record({ at: fc.nat(40), sign: fc.constantFrom(...SIGNS) }), { minLength: 1 })
    holds(fc.tuple(relayable(format, result), signs), ([{ events }, signs]) => {
      const wire = drain(WRITERS[format]!.events!(request), events).map(withUnknown)
      const pieces = wire.map(event => EVENT_STREAM.frame(event, false))
      for (const { at, sign } of signs) pieces.splice(Math.min(at, pieces.length), 0, sign)
      const came = drain(eventParser(), [Buffer.from(pieces.join(''))])
      expect(textOf(relayed(format, request, came))).toBe(textOf(wire))
    })
  })

  it.each(RELAYING)('%s: %s, also where the reader is given them', (format, work) => {
    const { asked: request, result } = WORKS[work]!
    holds(fc.tuple(relayable(format, result), fc.nat(40)), ([{ events }, at]) => {
      const wire = drain(WRITERS[format]!.events!(request), events)
      const reader = READERS[format]!.events!(request)
      const read = drain(reader, wire.toSpliced(Math.min(at, wire.length), 0, { data: ' ' }))
      expect(reader.irregular ?? false).toBe(false)
      same(fold(read), fold(drain(READERS[format]!.events!(request), wire)))
    })
  })
})

describe('relayed in part: wherever a stream is written anew, its answer is the same', () => {
  it.each(RELAYING)('%s: %s', (format, work) => {
    const { asked: request, result } = WORKS[work]!
    const read = (wire: readonly WireEvent[]) => {
      const reader = READERS[format]!.events!(request)
      const result = resultMeaning(fold(drain(reader, wire)))
      return { result, irregular: reader.irregular }
    }
    holds(relayable(format, result), ({ events }) => {
      const wire = drain(WRITERS[format]!.events!(request), events)
      for (let until = 0; until < wire.length; until++) same(read(relayed(format, request, wire, until)), read(wire))
    })
  })
})
