import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import type { Connection, Script } from '../upstream.ts'

/** The fields allowed in client frames (docs/wire/live.md#client-messages). `*` allows any JSON. */
type Shape = { readonly [field: string]: Shape | '*' }

const CONTENT: Shape = { role: '*', parts: { text: '*', inlineData: '*', functionCall: '*', functionResponse: '*' } }
const SHAPE: Shape = {
  setup: {
    model: '*',
    generationConfig: {
      ...{ responseModalities: '*', temperature: '*', maxOutputTokens: '*' },
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: '*' } } },
      thinkingConfig: { thinkingLevel: '*', thinkingBudget: '*' },
    },
    systemInstruction: CONTENT,
    tools: {
      functionDeclarations: { name: '*', description: '*', parameters: '*', behavior: '*' },
      ...{ googleSearch: '*', codeExecution: '*', urlContext: '*' },
    },
    realtimeInputConfig: {
      automaticActivityDetection: {
        ...{ disabled: '*', silenceDurationMs: '*' },
        ...{ startOfSpeechSensitivity: '*', endOfSpeechSensitivity: '*' },
      },
      activityHandling: '*',
    },
    sessionResumption: { handle: '*' },
    contextWindowCompression: { slidingWindow: '*' },
    inputAudioTranscription: { languageCodes: '*' },
    outputAudioTranscription: {},
  },
  clientContent: { turns: CONTENT, turnComplete: '*' },
  realtimeInput: {
    audio: { mimeType: '*', data: '*' },
    video: { mimeType: '*', data: '*' },
    ...{ text: '*', activityStart: {}, activityEnd: {}, audioStreamEnd: '*' },
  },
  toolResponse: { functionResponses: { id: '*', name: '*', response: '*' } },
}

/** Paths of fields that the format does not have. */
function unknown(value: Json, shape: Shape | '*', path: string): string[] {
  if (shape === '*') return []
  if (Array.isArray(value)) return value.flatMap(one => unknown(one, shape, path))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) =>
    shape[field] === undefined ? [`${path}.${field}`] : unknown(inner, shape[field], `${path}.${field}`),
  )
}

/** One connection to an upstream that accepts only what the format allows. */
export class LiveConnection {
  readonly connection: Connection
  readonly faults: string[]
  private taken = 0
  private isReady = false

  constructor(connection: Connection, faults: string[]) {
    this.connection = connection
    this.faults = faults
    connection.socket.on('message', data => this.check(JSON.parse(String(data))))
  }

  get setup(): JsonObject {
    return this.connection.received[0]!['setup'] as JsonObject
  }

  /** The next frame that is not audio. */
  async next(): Promise<JsonObject> {
    for (;;) {
      await this.connection.until(this.taken + 1)
      const frame = this.connection.received[this.taken++]!
      if ((frame['realtimeInput'] as JsonObject | undefined)?.['audio'] === undefined) return frame
    }
  }

  /** Sends frames as Google does: JSON in binary frames. */
  send(...frames: readonly JsonObject[]): void {
    for (const frame of frames) {
      if ('setupComplete' in frame) this.isReady = true
      this.connection.socket.send(Buffer.from(JSON.stringify(frame)))
    }
  }

  /** Number of bytes of audio received so far. */
  get heard(): number {
    return this.connection.received.reduce((sum, { realtimeInput }) => {
      const audio = (realtimeInput as JsonObject | undefined)?.['audio'] as JsonObject | undefined
      return sum + Buffer.from(String(audio?.['data'] ?? ''), 'base64').length
    }, 0)
  }

  private check(frame: JsonObject): void {
    const kinds = Object.keys(frame)
    const isFirst = this.connection.received.length === 1
    if (kinds.length !== 1) this.faults.push(`several messages: ${kinds}`)
    if (isFirst !== (kinds[0] === 'setup')) this.faults.push(`setup is the first: ${kinds}`)
    if (!isFirst && !this.isReady) this.faults.push(`before setupComplete: ${kinds}`)
    for (const path of unknown(frame, SHAPE, '')) this.faults.push(`unknown field: ${path}`)
    const audio = (frame['realtimeInput'] as JsonObject | undefined)?.['audio'] as JsonObject | undefined
    if (audio === undefined) return
    if (audio['mimeType'] !== 'audio/pcm;rate=16000') this.faults.push(`audio: ${audio['mimeType']}`)
    if (Buffer.from(String(audio['data']), 'base64').length % 2 === 1) this.faults.push('half a sample')
  }
}

/** A script that reads the setup, completes it and calls `play`. `index` counts connections. */
export function strict(faults: string[], play: (live: LiveConnection, index: number) => void | Promise<void>): Script {
  let connections = 0
  return async connection => {
    const live = new LiveConnection(connection, faults)
    const index = connections++
    await live.next()
    live.send({ setupComplete: {} })
    await play(live, index)
  }
}
