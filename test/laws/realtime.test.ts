import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { ClientEvent, ServerEvent } from '../../src/canonical/voice-session-event.ts'
import { ClientReader } from '../../src/voice/formats/realtime/client-reader.ts'
import { clientLosses, writeClientEvent } from '../../src/voice/formats/realtime/client-writer.ts'
import { readDialect } from '../../src/voice/formats/realtime/dialect.ts'
import { ServerReader } from '../../src/voice/formats/realtime/server-reader.ts'
import { ServerWriter } from '../../src/voice/formats/realtime/server-writer.ts'
import { clientEvent, response, serverEvent } from './realtime.ts'
import { holds } from './support.ts'

const DIALECTS = { ga: {}, beta: { naming: 'beta' }, mixed: { layout: 'mixed' } }

/** Returns a comparable value: bytes as numbers, without fields that an upstream may not get. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, field) => (field instanceof Uint8Array ? [...field] : field)))

/** Media types of audio inside items follow the session's input format, which other events change. */
const withoutTypes = (text: string): string => text.replace(/"mediaType":"audio[^"]*"/g, '"mediaType":"audio"')

describe.each(Object.entries(DIALECTS))('realtime events, dialect %s', (name, flags) => {
  const dialect = readDialect(flags)

  test('a client event is read as it was written, but for its losses', () => {
    holds(clientEvent, event => {
      const before = JSON.stringify(plain(event))
      const read = new ClientReader().read(writeClientEvent(event, dialect)!)
      const left = lose(event as object, clientLosses(event, dialect)) as ClientEvent
      expect(withoutTypes(JSON.stringify(sorted(plain(read))))).toBe(withoutTypes(JSON.stringify(sorted(plain(left)))))
      expect(JSON.stringify(plain(event))).toBe(before)
    })
  })

  test('server events are read as they were written', () => {
    if (name === 'mixed') return
    holds(
      fc.array(
        fc.oneof(
          serverEvent.map(one => [one]),
          response,
        ),
        { maxLength: 4 },
      ),
      groups => {
        const unique = groups.filter(
          (group, index) =>
            responseOf(group) === undefined ||
            groups.findIndex(other => responseOf(other) === responseOf(group)) === index,
        )
        const events = unique.flat()
        const writer = new ServerWriter({ naming: dialect.naming, newId: prefix => `${prefix}_1` })
        const reader = new ServerReader(dialect)
        const read = events.flatMap(event => writer.write(event)).flatMap(frame => reader.read(frame))
        expect(meaning(read)).toEqual(meaning(events))
      },
    )
  })
})

test('whatever a caller sends is an event or refused as an invalid request', () => {
  holds(
    fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .tuple(fc.constantFrom(...TYPES), fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()))
        .map(([type, fields]) => JSON.stringify({ ...fields, type })),
    ),
    frame => {
      try {
        new ClientReader().read(frame)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        expect((thrown as GatewayError).error.kind).toBe('invalid-request')
      }
    },
  )
})

test('whatever an upstream sends gives events, and what they give can be written', () => {
  const frames = fc.array(
    fc
      .tuple(fc.constantFrom(...SERVER_TYPES), fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()))
      .map(([type, fields]) => JSON.stringify({ ...fields, type })),
    { maxLength: 6 },
  )
  holds(frames, list => {
    const reader = new ServerReader(readDialect({}))
    const writer = new ServerWriter({ naming: 'ga', newId: prefix => prefix })
    for (const frame of list)
      for (const event of reader.read(frame)) for (const text of writer.write(event)) JSON.parse(text)
  })
})

const FIELDS = [
  'session',
  'audio',
  'item',
  'item_id',
  'content_index',
  'response',
  'previous_item_id',
  'response_id',
  'output_index',
  'delta',
  'part',
  'transcript',
  'usage',
  'error',
  'rate_limits',
  '__proto__',
]
const TYPES = [
  'session.update',
  'input_audio_buffer.append',
  'conversation.item.create',
  'conversation.item.truncate',
  'response.create',
  'response.cancel',
]
const SERVER_TYPES = [
  'session.created',
  'session.updated',
  'conversation.item.added',
  'conversation.item.done',
  'response.created',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_audio.delta',
  'response.function_call_arguments.done',
  'response.output_item.done',
  'response.done',
  'error',
  'rate_limits.updated',
  'conversation.item.input_audio_transcription.completed',
  'no.such',
]

const responseOf = (group: readonly ServerEvent[]): string | undefined =>
  group[0]?.type === 'response-start' ? group[0].response : undefined

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      // Settings all of whose fields were lost.
      .filter(([key, one]) => !((key === 'input' || key === 'output') && JSON.stringify(one) === '{}'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

/** Returns responses as wholes, and the other events in order. */
function meaning(events: readonly ServerEvent[]): unknown {
  const wholes = new Map<string, Record<string, unknown>>()
  const others: unknown[] = []
  for (const event of events) {
    if ('at' in event && 'text' in event) grow(wholes, `${event.at.item} ${event.type}`, event.text)
    else if (event.type === 'audio-delta')
      grow(wholes, `${event.at.item} audio`, Buffer.from(event.audio).toString('hex'))
    else if (event.type === 'response-start') wholes.set(event.response, { started: true })
    else if (event.type === 'response-end')
      wholes.set(event.response, { ...wholes.get(event.response), ...(plain(event) as object) })
    else if (event.type === 'output-start')
      wholes.set(event.item.id, { item: plain({ ...event.item, status: undefined }), output: event.output })
    else if (event.type === 'output-end') wholes.set(`${event.item} end`, { status: event.status })
    else if (event.type !== 'part-start' && event.type !== 'part-end' && event.type !== 'item-done')
      others.push(sorted(plain(withoutStatus(event))))
  }
  return { wholes: sorted(Object.fromEntries(wholes)), others: withoutTypes(JSON.stringify(others)) }
}

/** OpenAI gives outputs of calls no status. */
const withoutStatus = (event: ServerEvent): unknown =>
  'item' in event && typeof event.item === 'object' ? { ...event, item: { ...event.item, status: undefined } } : event

function grow(wholes: Map<string, Record<string, unknown>>, key: string, text: string): void {
  wholes.set(key, { text: `${wholes.get(key)?.['text'] ?? ''}${text}` })
}
