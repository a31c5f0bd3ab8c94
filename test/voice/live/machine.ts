import type { JsonObject } from '../../../src/canonical/node.ts'
import type { VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../../src/canonical/voice-session-event.ts'
import { LiveProtocol } from '../../../src/voice/formats/live/protocol.ts'
import type { Step } from '../../../src/voice/protocol.ts'
import type { SessionEnd } from '../../../src/voice/upstream.ts'

export interface MachineOptions {
  readonly model?: string
  readonly settings?: VoiceSessionSettings
  readonly dialect?: JsonObject
}

/** Runs a protocol without a socket and records its frames, events and reconnects. */
export class Machine {
  readonly protocol: LiveProtocol
  readonly events: ServerEvent[] = []
  /** Frames by connection. */
  readonly sent: JsonObject[][] = [[]]
  end: SessionEnd | undefined
  /** Whether the protocol has requested a new connection. */
  moving = false

  constructor({ model = 'gemini-live', settings = {}, dialect = {} }: MachineOptions = {}) {
    let ids = 0
    this.protocol = new LiveProtocol({ model, settings, dialect, newId: prefix => `${prefix}_${++ids}` })
    this.take(this.protocol.opened())
  }

  /** Sends client events. Queues them during a reconnect, as `WebSocketUpstream` does. */
  client(...events: readonly ClientEvent[]): this {
    for (const event of events) {
      if (this.moving) this.open()
      if (this.end === undefined) this.take(this.protocol.client(event))
    }
    return this
  }

  server(...frames: readonly (JsonObject | string)[]): this {
    for (const frame of frames)
      if (this.end === undefined)
        this.take(this.protocol.server(typeof frame === 'string' ? frame : JSON.stringify(frame)))
    return this
  }

  /** Opens the new connection. */
  open(): this {
    this.moving = false
    this.sent.push([])
    this.take(this.protocol.opened())
    return this
  }

  close(code: number, reason = ''): this {
    if (this.end === undefined) this.take(this.protocol.closed(code, reason))
    return this
  }

  /** Frames of the current connection. */
  get frames(): readonly JsonObject[] {
    return this.sent.at(-1)!
  }

  get types(): string[] {
    return this.events.map(({ type }) => type)
  }

  of<T extends ServerEvent['type']>(type: T): Extract<ServerEvent, { readonly type: T }>[] {
    return this.events.filter(event => event.type === type) as Extract<ServerEvent, { readonly type: T }>[]
  }

  private take({ send = [], events = [], reconnect, end }: Step): void {
    for (const frame of send) this.sent.at(-1)!.push(JSON.parse(frame))
    for (const event of events) this.events.push(event)
    if (reconnect === true) this.moving = true
    this.end ??= end
  }
}

export const SETUP_COMPLETE = { setupComplete: {} }
export const content = (serverContent: JsonObject): JsonObject => ({ serverContent })
export const spoken = (bytes: number): JsonObject =>
  content({
    modelTurn: {
      parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: Buffer.alloc(bytes, 1).toString('base64') } }],
    },
  })
export const written = (text: string): JsonObject => content({ modelTurn: { parts: [{ text }] } })
export const outputTranscript = (text: string): JsonObject => content({ outputTranscription: { text } })
export const inputTranscript = (text: string): JsonObject => content({ inputTranscription: { text } })
export const TURN_COMPLETE = {
  ...content({ turnComplete: true }),
  usageMetadata: {
    ...{ promptTokenCount: 10, responseTokenCount: 4, totalTokenCount: 14 },
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
  },
}
export const INTERRUPTED = content({ interrupted: true })
export const calls = (...functionCalls: readonly JsonObject[]): JsonObject => ({ toolCall: { functionCalls } })
export const resumable = (newHandle: string): JsonObject => ({
  sessionResumptionUpdate: { newHandle, resumable: true },
})
export const UNRESUMABLE = { sessionResumptionUpdate: { newHandle: '', resumable: false } }
export const GO_AWAY = { goAway: { timeLeft: '9.5s' } }

export const userText = (text: string): ClientEvent => ({
  type: 'item-create',
  item: { role: 'user', content: [{ type: 'text', text }] },
})
export const result = (id: string, text: string): ClientEvent => ({
  type: 'item-create',
  item: { role: 'tool', content: [{ type: 'tool-result', id, content: [{ type: 'text', text }] }] },
})
export const CREATE: ClientEvent = { type: 'response-create' }
export const CANCEL: ClientEvent = { type: 'response-cancel' }
export const COMMIT: ClientEvent = { type: 'audio-commit' }
export const audio = (bytes = 3200): ClientEvent => ({ type: 'audio-append', audio: Buffer.alloc(bytes) })
