import type { JsonObject } from '../../../src/canonical/node.ts'
import { PCM_24K } from '../../../src/canonical/voice-session.ts'
import { AudioPath } from '../../../src/voice/audio-path.ts'
import { EventBuffer } from '../../../src/voice/event-buffer.ts'
import { LiveProtocol } from '../../../src/voice/formats/live/protocol.ts'
import { ClientReader, eventIdOf } from '../../../src/voice/formats/realtime/client-reader.ts'
import { ServerWriter } from '../../../src/voice/formats/realtime/server-writer.ts'
import { TranslatedSession } from '../../../src/voice/translated-session.ts'
import { openConverter } from '../../../src/voice/upstreams.ts'
import { WebSocketUpstream } from '../../../src/voice/websocket-upstream.ts'
import { Mirror } from '../mirror.ts'
import { FakeRecord, FakeSide } from '../sides.ts'
import type { Gemini } from './gemini.ts'

export const update = (session: JsonObject): JsonObject => ({
  type: 'session.update',
  session: { type: 'realtime', ...session },
})

/** A loud or silent tenth of a second at 24 kHz. */
const sound = (amplitude: number, bytes = 4800): Buffer => {
  const samples = Buffer.alloc(bytes)
  for (let at = 0; at + 1 < bytes; at += 2) samples.writeInt16LE(at % 64 < 32 ? amplitude : -amplitude, at)
  return samples
}
export const SOUNDS = { voice: sound(9000), quiet: sound(0, 48_000), odd: sound(0, 33) }

export const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Opens a session between a strict client and a model of Gemini. Its connection is not complete yet. */
export async function sessionWith(gemini: Gemini, turnDetection: JsonObject | null) {
  const [caller, record, mirror] = [new FakeSide(), new FakeRecord(), new Mirror()]
  caller.onFrame = frame => void mirror.take(frame)
  let ids = 0
  const newId = (prefix: string): string => `${prefix}_${++ids}`
  const buffer = new EventBuffer()
  const protocol = new LiveProtocol({
    ...{ model: gemini.kind === 'third generation' ? 'gemini-3.1-flash-live' : 'gemini-live', newId },
    dialect: gemini.kind === 'of the cloud' ? { vertex: true } : {},
    settings: { input: { format: PCM_24K }, output: { format: PCM_24K } },
  })
  const upstream = await WebSocketUpstream.open(
    { protocol, listener: buffer, dial: gemini.dial as never, firstEvent: 1e6 },
    new AbortController().signal,
  )
  const audio = await AudioPath.open({
    ...{ caller: { input: PCM_24K, output: PCM_24K }, upstream: upstream.audio, open: openConverter },
  })
  const reader = new ClientReader(PCM_24K)
  const writer = new ServerWriter({ naming: 'ga', newId })
  const options: object = {
    ...{ caller, upstream, audio, record, onLoss: 'show', model: 'gemini-live' },
    models: { publicName: (name: string) => name },
    format: {
      read: (frame: string) => reader.read(frame),
      eventId: eventIdOf,
      write: (event: Parameters<typeof writer.write>[0]) => writer.write(event),
    },
    publicError: <T>(value: T) => value,
    scrub: <T>(value: T) => value,
    limits: { idle: 1e6, lifetime: 1e6, buffer: 1e9 },
  }
  const session = new TranslatedSession(options as ConstructorParameters<typeof TranslatedSession>[0])
  session.start()
  buffer.deliver(session)
  const send = (frame: JsonObject): void => caller.listener!.frame(Buffer.from(JSON.stringify(frame)), false)
  const say = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; at += 4800)
      send({
        type: 'input_audio_buffer.append',
        audio: bytes.subarray(at, Math.min(bytes.length, at + 4800)).toString('base64'),
      })
  }
  send(update({ audio: { input: { turn_detection: turnDetection, transcription: { model: 'any' } } } }))
  await settled()
  return { caller, record, gemini, mirror, session, send, say }
}
