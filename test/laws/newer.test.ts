import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { NATIVE } from '../builders/write-options.ts'
import { namesOf } from '../formats/newer/kinds.ts'
import { asked, streamed } from './arbitrary-result.ts'
import { completed } from './exceptions.ts'
import { relayed } from './relayed.ts'
import { holds, same } from './support.ts'
import { WIRES } from './wires.ts'

/*
 * What the newest SDKs have and the gateway does not read, at any place among what it reads: it leaves where it came,
 * unchanged.
 */

/** The kinds of a title that no reader knows. */
const unread = (title: string, known: readonly string[] = []): fc.Arbitrary<string> =>
  fc.constantFrom(...namesOf(title).filter(name => !known.includes(name)))

const stranger = (kind: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> =>
  fc.tuple(kind, fc.string({ maxLength: 3 })).map(([type, x_new]) => ({ type, x_new }))

/** The list with one more item at some place. */
const insertedIn = (list: Json | undefined, item: JsonObject, at: number): readonly Json[] => {
  const items = Array.isArray(list) ? (list as readonly Json[]) : []
  return items.toSpliced(at % (items.length + 1), 0, item)
}

const MESSAGES = ['text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result']
const RESPONSES = [
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'additional_tools',
  'tool_search_output',
]

/** Where each format has pieces of a conversation, in requests and answers, and the kinds that are not read. */
const PLACES = {
  messages: {
    asked: stranger(unread('messages: blocks of a turn', MESSAGES)),
    answered: stranger(unread('messages: blocks of an answer', MESSAGES)),
    event: stranger(fc.constantFrom('x_event', 'vendor.progress')),
    ask: (body: JsonObject, block: JsonObject, at: number): JsonObject => ({
      ...body,
      messages: insertedIn(body['messages'], { role: 'assistant', content: [block] }, at),
    }),
    answer: (body: JsonObject, block: JsonObject, at: number): JsonObject => ({
      ...body,
      content: insertedIn(body['content'], block, at),
    }),
  },
  responses: {
    asked: stranger(
      unread('responses: items of a history', [...RESPONSES, 'function_call_output', 'custom_tool_call_output']),
    ),
    answered: stranger(unread('responses: items of an answer', RESPONSES)),
    event: stranger(
      unread('responses: events').filter(type =>
        /\.(steer|inject|mcp_call|mcp_list_tools|shell_call\w*|file_search_call|web_search_call|compaction)\./.test(
          type,
        ),
      ),
    ),
    ask: (body: JsonObject, item: JsonObject, at: number): JsonObject => {
      const input = body['input']
      return { ...body, input: insertedIn(isObject(input) ? [input] : input, item, at) }
    },
    answer: (body: JsonObject, item: JsonObject, at: number): JsonObject => ({
      ...body,
      output: insertedIn(body['output'], item, at),
    }),
  },
} as const

const FORMATS = Object.keys(PLACES) as (keyof typeof PLACES)[]

describe('newer kinds pass whole between equal formats, at any place', () => {
  it.each(FORMATS)('in a request of %s', format => {
    const { asked: piece, ask } = PLACES[format]
    holds(fc.tuple(WIRES[format]!.request, piece, fc.nat(9)), ([wire, one, at]) => {
      const body = ask(wire.body, one, at)
      const { wire: written, losses } = WRITERS[format]!.request!(READERS[format]!.request!({ ...wire, body }), NATIVE)
      same(written.body, body)
      expect(losses).toEqual([])
    })
  })

  it.each(FORMATS)('in an answer of %s', format => {
    const { answered, answer } = PLACES[format]
    holds(fc.tuple(WIRES[format]!.result, answered, fc.nat(9)), ([given, one, at]) => {
      const body = answer(given, one, at)
      const read = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = WRITERS[format]!.result!(read, asked)
      same(wire.body, completed(format, body))
      expect(losses).toEqual([])
    })
  })

  it.each(FORMATS)('as events of a stream of %s', format => {
    holds(fc.tuple(streamed(), PLACES[format].event, fc.nat()), ([{ events }, one, place]) => {
      const wire = drain(WRITERS[format]!.events!(asked), events)
      // Events before the first and behind the last one belong to no answer.
      const at = 2 + (place % Math.max(1, wire.length - 3))
      const stranger = { event: String(one['type']), data: JSON.stringify(one) }
      const out = relayed(format, asked, wire.toSpliced(at, 0, stranger))
      const where = out.findIndex(isOf(one))
      expect(unnumbered(out[where]!)).toEqual(one)
      expect(out.toSpliced(where, 1).map(unnumbered)).toEqual(relayed(format, asked, wire).map(unnumbered))
    })
  })
})

const isOf =
  (one: JsonObject) =>
  ({ data }: WireEvent): boolean =>
    data.includes('"x_new"') && data.includes(JSON.stringify(one['type']))

/** The event's data without its number in the stream. */
function unnumbered({ data }: WireEvent): unknown {
  if (!data.startsWith('{')) return data
  const { sequence_number: _, ...rest } = JSON.parse(data) as JsonObject
  return rest
}
