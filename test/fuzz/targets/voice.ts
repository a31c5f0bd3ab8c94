import { GatewayError } from '../../../src/canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import { ClientReader, eventIdOf } from '../../../src/voice/formats/realtime/client-reader.ts'
import { clientLosses, writeClientEvent } from '../../../src/voice/formats/realtime/client-writer.ts'
import { readDialect } from '../../../src/voice/formats/realtime/dialect.ts'
import { ServerReader } from '../../../src/voice/formats/realtime/server-reader.ts'
import { ServerWriter } from '../../../src/voice/formats/realtime/server-writer.ts'
import { clientEvent, response, serverEvent } from '../../laws/realtime.ts'
import { fault } from '../../voice/live/grammar.ts'
import * as live from '../../voice/live/machine.ts'
import { sampled } from '../seeds.ts'
import { Broken, expectSame, type Target, type Watch } from '../target.ts'

/* Frames of voice sessions, from callers and from upstreams. An input is a list of frames. */

const GA = readDialect({})
const newId = (prefix: string): string => `${prefix}_1`

/** Returns the text of a frame. A string is sent as it is. */
const textOf = (frame: Json): string => (typeof frame === 'string' ? frame : (JSON.stringify(frame) ?? ''))
const framesOf = (texts: readonly string[]): Json => texts.map(text => JSON.parse(text) as Json)

/** Reads a caller's frame. Undefined for one that is refused. */
function readClient(reader: ClientReader, frame: Json, watch: Watch): ClientEvent | undefined {
  const text = textOf(frame)
  try {
    return reader.read(text)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.kind !== 'invalid-request') throw thrown
    watch.said(thrown.message)
    eventIdOf(text)
    return undefined
  }
}

const CALLER: Target = {
  name: 'voice:realtime-caller',
  inputs: 'frames of callers of voice sessions',
  files: /^src\/voice\/formats\/(realtime\/(client-reader|items|settings-reader|wire)|fields)/,
  seeds: seed =>
    sampled(
      clientEvent.map(event => framesOf([writeClientEvent(event, GA)!])),
      seed,
    ),
  run: (input, watch) => {
    const reader = new ClientReader()
    for (const frame of listOf(input)) {
      const event = readClient(reader, frame, watch)
      if (event === undefined) continue
      watch.returned(event)
      const lost = clientLosses(event, GA).length > 0
      const written = writeClientEvent(event, GA)
      if (written !== undefined && !lost)
        watch.unmeasured(() => expectSame('round trip', plain(new ClientReader().read(written)), plain(event)))
    }
    watch.retained(reader)
  },
}

/** Returns an event without what the state of a session adds: media types of its audio. */
const plain = (event: unknown): unknown =>
  JSON.parse(JSON.stringify(event, (name, field) => (name === 'mediaType' ? undefined : field)))

const UPSTREAM: Target = {
  name: 'voice:realtime-upstream',
  inputs: 'frames of upstreams of the format realtime',
  files: /^src\/voice\/formats\/(realtime\/(server-reader|items|settings-reader|usage|errors|wire)|fields)/,
  seeds: seed => {
    const framesFor = (events: readonly Parameters<ServerWriter['write']>[0][]) => {
      const writer = new ServerWriter({ naming: 'ga', newId })
      return framesOf(events.flatMap(event => writer.write(event)))
    }
    return [
      ...sampled(response.map(framesFor), seed),
      ...sampled(
        serverEvent.map(event => framesFor([event])),
        seed,
      ),
    ]
  },
  run: (input, watch) => {
    const reader = new ServerReader(GA)
    const writer = new ServerWriter({ naming: 'ga', newId })
    for (const frame of listOf(input))
      for (const event of reader.read(textOf(frame))) {
        watch.returned(event)
        if (event.type === 'error') watch.said(event.error.message)
        for (const text of writer.write(event)) JSON.parse(text)
      }
    watch.retained(reader)
  },
}

const SESSIONS: readonly Json[] = [
  [live.SETUP_COMPLETE, live.written('Hi.'), live.TURN_COMPLETE],
  [live.SETUP_COMPLETE, live.inputTranscript('Hi'), live.spoken(640), live.outputTranscript('Ho'), live.TURN_COMPLETE],
  [live.SETUP_COMPLETE, live.spoken(2), live.INTERRUPTED, live.content({ turnComplete: true })],
  [live.SETUP_COMPLETE, live.calls({ id: 'call_1', name: 'find', args: { a: 1 } }), live.TURN_COMPLETE],
  [live.SETUP_COMPLETE, live.calls({ name: 'find' }), { toolCallCancellation: { ids: ['call_1'] } }],
  [live.SETUP_COMPLETE, live.resumable('h'), live.GO_AWAY, { closed: 1006 }, { opened: true }, live.SETUP_COMPLETE],
  [live.SETUP_COMPLETE, { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } }, live.UNRESUMABLE],
  [live.SETUP_COMPLETE, { error: { code: 429, message: 'Too many.', status: 'RESOURCE_EXHAUSTED' } }],
]

const LIVE: Target = {
  name: 'voice:live',
  inputs: 'frames of callers (in `caller`) and of upstreams of the format live',
  files: /^src\/voice\/formats\/live\//,
  seeds: seed => {
    const caller = sampled(
      clientEvent.map(event => ({ caller: JSON.parse(writeClientEvent(event, GA)!) as Json })),
      seed,
    )
    return [
      ...SESSIONS,
      ...SESSIONS.map((session, index) => {
        const [first, ...rest] = session as readonly Json[]
        return [first!, ...caller.slice(index * 3, index * 3 + 3), { caller: { type: 'response.create' } }, ...rest]
      }),
    ]
  },
  run: (input, watch) => {
    const machine = new live.Machine({ settings: { input: { transcription: {} } } })
    const reader = new ClientReader()
    for (const item of listOf(input)) play(machine, item, frame => readClient(reader, frame, watch))
    const wrong = watch.unmeasured(() => fault(machine.events))
    if (wrong !== undefined) throw new Broken('grammar', wrong)
    for (const event of machine.events) if (event.type === 'error') watch.said(event.error.message)
    watch.returned(machine.events)
    watch.retained(machine.protocol)
    const writer = new ServerWriter({ naming: 'ga', newId })
    for (const event of machine.events) for (const text of writer.write(event)) JSON.parse(text)
  },
}

function play(machine: live.Machine, item: Json, read: (frame: Json) => ClientEvent | undefined): void {
  const { caller, closed, opened } = isObject(item) ? item : ({} as JsonObject)
  if (caller !== undefined) {
    const event = read(caller)
    if (event !== undefined) {
      machine.protocol.losses(event)
      machine.client(event)
    }
  } else if (typeof closed === 'number') machine.close(closed)
  else if (opened === true) {
    if (machine.moving) machine.open()
  } else machine.server(textOf(item))
}

const listOf = (input: Json): readonly Json[] => (Array.isArray(input) ? input : [input])

export const VOICE: readonly Target[] = [CALLER, UPSTREAM, LIVE]
