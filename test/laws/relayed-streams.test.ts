import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { streamed } from './arbitrary-result.ts'
import { isCutAnew } from './exceptions.ts'
import { relayed } from './relayed.ts'
import { resultMeaning } from './same.ts'
import { holds, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

/* Events of an upstream of the caller's own format, as the gateway passes them on. */

/** Each event with fields that nobody knows. */
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

const RELAYING = jobsWith('events').filter(([format]) => WRITERS[format]!.ownEvents !== undefined)

describe('relayed: a stream leaves as it came, whatever is in it', () => {
  it.each(RELAYING)('%s: %s', (format, work) => {
    const { asked: request, result } = WORKS[work]!
    holds(relayable(format, result), ({ events }) => {
      const wire = drain(WRITERS[format]!.events!(request), events).map(withUnknown)
      expect(relayed(format, request, wire, wire.length)).toEqual(wire)
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
