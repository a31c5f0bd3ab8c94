import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { ServerEvent } from '../../src/canonical/voice-session-event.ts'
import { ClientReader } from '../../src/voice/formats/realtime/client-reader.ts'
import { clientLosses, writeClientEvent } from '../../src/voice/formats/realtime/client-writer.ts'
import { readDialect } from '../../src/voice/formats/realtime/dialect.ts'
import { ServerReader } from '../../src/voice/formats/realtime/server-reader.ts'
import { ServerWriter } from '../../src/voice/formats/realtime/server-writer.ts'
import type { Naming } from '../../src/voice/formats/realtime/wire.ts'
import { DIALECTS, SESSIONS, type SessionRecording } from './realtime.ts'
import { where } from './recording.ts'

const OPENAI = SESSIONS.filter(({ vendor }) => vendor in DIALECTS)
const cases = (vendors: readonly string[]) =>
  OPENAI.filter(({ vendor }) => vendors.includes(vendor)).map(one => [one.name, one] as const)

const received = ({ frames }: SessionRecording): JsonObject[] =>
  frames.filter(({ direction }) => direction === 'received').map(({ data }) => data)
const sent = ({ frames }: SessionRecording): JsonObject[] =>
  frames.filter(({ direction }) => direction === 'sent').map(({ data }) => data)

const eventsOf = (session: SessionRecording): ServerEvent[] => {
  const reader = new ServerReader(readDialect(DIALECTS[session.vendor]!))
  return received(session).flatMap(frame => reader.read(JSON.stringify(frame)))
}

/** Writes events, without the announcement of the conversation, which only xAI sends. */
const writtenOf = (events: readonly ServerEvent[], naming: Naming): JsonObject[] => {
  const writer = new ServerWriter({ naming, newId: prefix => `${prefix}_x` })
  const frames = events.flatMap(event => writer.write(event)).map(text => JSON.parse(text) as JsonObject)
  return frames.filter(({ type }) => type !== 'conversation.created')
}

/** Fields without meaning: generated ids, padding, and a vendor's repetitions. */
const NOISE = new Set([
  'event_id',
  'obfuscation',
  'object',
  'content',
  'conversation_id',
  'expires_at',
  'previous_item_id',
])

function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, field]) => field !== null && !(NOISE.has(name) && !(name === 'content' && Array.isArray(field))))
      .map(([name, field]) => [name, essence(field)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Events whose relative order is the writer's choice: those that end a part, an item or a response. */
const textsOf = (frames: readonly JsonObject[]) =>
  frames
    .filter(({ type }) => /\.(done|completed)$/.test(String(type)) && type !== 'conversation.item.done')
    .map(essence)
    .map(one => JSON.stringify(one))
    .sort()

describe.skipIf(OPENAI.length === 0)(`recorded sessions of OpenAI's format${where}`, () => {
  test.each(cases(['openai', 'azure']))('%s: server events are read and written again', (_, session) => {
    const frames = received(session).filter(({ type }) => !String(type).startsWith('output_audio_buffer.'))
    const written = writtenOf(
      eventsOf(session).filter(({ type }) => type !== 'opaque'),
      'ga',
    )
    const plain = (list: readonly JsonObject[]) => list.filter(({ type }) => !/\.(done|completed)$/.test(String(type)))
    expect(plain(written).map(({ type }) => type)).toEqual(plain(frames).map(({ type }) => type))
    for (const [index, frame] of plain(frames).entries())
      if (!/^(session|response)\.(created|updated)$/.test(String(frame['type'])))
        expect(essence(plain(written)[index])).toEqual(essence(frame))
    expect(written.map(({ type }) => type).sort()).toEqual(frames.map(({ type }) => type).sort())
  })

  test.each(cases(['openai', 'azure']))('%s: whole texts, items and usage are as recorded', (_, session) => {
    const wholes = (list: readonly JsonObject[]) =>
      textsOf(list.filter(({ type }) => type !== 'response.done' && type !== 'response.output_item.done'))
    expect(wholes(writtenOf(eventsOf(session), 'ga'))).toEqual(wholes(received(session)))
    expect(responsesOf(writtenOf(eventsOf(session), 'ga'))).toEqual(responsesOf(received(session)))
  })

  test.each(cases(['voice-live', 'xai']))('%s: deviating dialects give the same responses', (_, session) => {
    for (const naming of ['ga', 'beta'] as const) {
      const written = writtenOf(eventsOf(session), naming)
      expect(responsesOf(written)).toEqual(responsesOf(received(session)))
      const known = written.filter(({ type }) => type !== 'error')
      expect(known).toHaveLength(written.length)
    }
  })

  test.each(cases(['openai', 'azure', 'voice-live', 'xai']))('%s: items keep their order', (_, session) => {
    for (const naming of ['ga', 'beta'] as const) {
      const added = writtenOf(eventsOf(session), naming).filter(({ type }) =>
        /^conversation\.item\.(added|created)$/.test(String(type)),
      )
      const ids = added.map(({ item }) => (item as JsonObject)['id'])
      expect(added.map(one => one['previous_item_id'])).toEqual([null, ...ids.slice(0, -1)])
    }
  })

  test.each(cases(['openai', 'azure', 'voice-live', 'xai']))(
    '%s: client events are read and written again',
    (_, session) => {
      const dialect = readDialect(DIALECTS[session.vendor]!)
      const reader = new ClientReader()
      for (const frame of sent(session)) {
        const event = reader.read(JSON.stringify(frame))
        const written = JSON.parse(writeClientEvent(event, dialect)!)
        expect(clientLosses(event, dialect)).toEqual([])
        // The beta's name of an assistant's text. Its upstreams accept either name.
        expect(JSON.stringify(essence(written)).replaceAll('"output_text"', '"text"')).toBe(
          JSON.stringify(essence(frame)).replaceAll('"output_text"', '"text"'),
        )
      }
    },
  )
})

/** Returns statuses, texts, calls and usage of the responses of a session. */
function responsesOf(frames: readonly JsonObject[]): unknown[] {
  return frames
    .filter(({ type }) => type === 'response.done')
    .map(frame => {
      const response = frame['response'] as JsonObject
      const usage = { ...(response['usage'] as JsonObject), ...(frame['usage'] as JsonObject | undefined) }
      return {
        status: response['status'],
        output: (response['output'] as readonly JsonObject[]).map(
          ({ type, role, content, name, call_id, arguments: args }) => ({
            ...{ type, role: type === 'message' ? role : undefined, name, call_id, arguments: args },
            content: (content as readonly JsonObject[] | undefined)?.map(({ text, transcript }) => text ?? transcript),
          }),
        ),
        usage: [usage['input_tokens'], usage['output_tokens']],
      }
    })
}
