import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { Sequential } from '../../src/canonical/sequential.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { bodiesOf, objectsIn } from '../builders/streams.ts'
import { streamed } from './arbitrary-result.ts'
import { holds, same } from './support.ts'
import { WORKS } from './works.ts'

/*
 * Streams whose items come one after another at the real upstreams of a format do so at the gateway, for any input
 * (trap 96).
 */
/** Events that name their item at OpenAI: all events of an output except its items' own start and end. */
const NAMES_ITEM = /^response\.(?!output_item\.)[a-z_]+\.(?!partial_image)[a-z_.]+$/

/** Returns the first case of interleaved items. Undefined if there is none. */
function faultOfItems(events: readonly JsonObject[]): string | undefined {
  let open: number | undefined
  let next = 0
  for (const [place, event] of events.entries()) {
    const { type, output_index } = event
    if (event['sequence_number'] !== place) return `${type} is numbered ${event['sequence_number']}, not ${place}`
    if (NAMES_ITEM.test(String(type)) && typeof event['item_id'] !== 'string') return `${type} names no item`
    if (output_index === undefined) continue
    if (type === 'response.output_item.added') {
      if (open !== undefined) return `item ${output_index} is added while ${open} is open`
      if (output_index !== next) return `item ${output_index} is added where ${next} is due`
      open = next++
    } else if (output_index !== open) return `${type} is of item ${output_index} while ${open} is open`
    if (type === 'response.output_item.done') open = undefined
  }
  return undefined
}

/** Returns the first case of interleaved blocks. Undefined if there is none. */
function faultOfBlocks(events: readonly JsonObject[]): string | undefined {
  let open: number | undefined
  let next = 0
  for (const { type, index } of events) {
    if (index === undefined) continue
    if (type === 'content_block_start') {
      if (open !== undefined || index !== next) return `block ${index} starts while ${open} is open and ${next} is due`
      open = next++
    } else if (index !== open) return `${type} is of block ${index} while ${open} is open`
    if (type === 'content_block_stop') open = undefined
  }
  return undefined
}

/** Returns the first call of a choice that continues after another has started. Undefined if there is none. */
function faultOfCalls(events: readonly JsonObject[]): string | undefined {
  const last = new Map<Json | undefined, number>()
  for (const choice of events.flatMap(({ choices }) => objectsIn(choices))) {
    const delta = choice['delta'] as JsonObject
    for (const { index, id } of objectsIn(delta['tool_calls'])) {
      const before = last.get(choice['index']) ?? -1
      if (index !== (id === undefined ? before : before + 1)) return `call ${index} goes on after call ${before}`
      last.set(choice['index'], index as number)
    }
  }
  return undefined
}

const FAULTS: { readonly [format: string]: (events: readonly JsonObject[]) => string | undefined } = {
  responses: faultOfItems,
  messages: faultOfBlocks,
  chat: faultOfCalls,
}

describe('one at a time: no item begins before the one before it is done (trap 96)', () => {
  it.each(Object.keys(FAULTS))('%s', format => {
    const { asked, result } = WORKS.conversation!
    holds(streamed(result), ({ events }) => {
      same(FAULTS[format]!(bodiesOf(drain(WRITERS[format]!.events!(asked), events))), undefined)
    })
  })
})

describe('one at a time: each part of a candidate ends before the next begins, and each keeps its order', () => {
  const through = (events: readonly CanonicalEvent[]): CanonicalEvent[] =>
    drain(new Sequential<CanonicalEvent>({ push: event => [event], end: () => [] }), events)

  const ofPart = (events: readonly CanonicalEvent[], candidate: number, part: number): CanonicalEvent[] =>
    events.filter(event => 'at' in event && event.at.candidate === candidate && event.at.part === part)

  it('whatever interleaves', () => {
    holds(streamed(), ({ events, result }) => {
      const seen = through(events)
      expect(seen.length).toBe(events.length)
      for (const [candidate, { content }] of result.candidates.entries())
        for (const part of content.keys()) same(ofPart(seen, candidate, part), ofPart(events, candidate, part))
      const open = new Set<number>()
      for (const event of seen) {
        if (event.type === 'part-start') {
          expect(open.has(event.at.candidate)).toBe(false)
          open.add(event.at.candidate)
        }
        if (event.type === 'part-end') open.delete(event.at.candidate)
      }
    })
  })

  it('what does not interleave is neither held nor copied', () => {
    holds(streamed(), ({ events }) => {
      const out: readonly CanonicalEvent[] = []
      const machine = new Sequential<CanonicalEvent>({ push: () => out, end: () => out })
      for (const event of through(events)) expect(machine.push(event)).toBe(out)
    })
  })
})
