import type { JsonObject } from '../../../src/canonical/node.ts'
import type { SocketListener } from '../../../src/voice/session-socket.ts'
import { content, spoken } from './machine.ts'

/** Behaviour of the model at the end of the user's next turn. */
export type Behaviour = 'speaks' | 'calls' | 'calls twice' | 'is silent'

const LOUD = 2000
/** Silence that ends a turn, in bytes. */
const SILENCE = 16_000

/**
 * One connection to a model of Gemini's Live API, as a server of it behaves: it answers the end of each turn, user input
 * interrupts it, and it waits for the results of its calls. Frames are sent one by one by `step`.
 */
export class GeminiConnection {
  listener: SocketListener | undefined
  readonly closed: Promise<void>
  readonly buffered = 0
  isOver = false
  private readonly model: Gemini
  private readonly end = Promise.withResolvers<void>()
  private setup: JsonObject | undefined
  /** Frames that are still to be sent. */
  private readonly frames: JsonObject[] = []
  /** Frames that an interruption does not drop: transcripts, and ends of turns by an interruption or calls. */
  private readonly kept = new WeakSet<JsonObject>()
  private isGenerating = false
  private isReady = false
  private readonly openCalls = new Set<string>()
  private isSpeaking = false
  private isActive = false
  private silence = 0

  constructor(model: Gemini) {
    this.model = model
    this.closed = this.end.promise
  }

  get isIdle(): boolean {
    return this.isOver || this.frames.length === 0
  }

  listen(listener: SocketListener): void {
    this.listener = listener
  }
  pause(): void {}
  resume(): void {}
  close(): void {
    this.isOver = true
    this.end.resolve()
  }
  terminate(): void {
    this.close()
  }

  /** Breaks the connection. */
  break(code: number): void {
    if (this.isOver || this.listener === undefined) return
    this.close()
    this.listener.closed(code, '')
  }

  goAway(): void {
    if (this.isReady) this.frames.push({ goAway: { timeLeft: '9.5s' } })
  }

  /** Sends the next frame. */
  step(): void {
    if (this.isOver || this.listener === undefined) return
    const frame = this.frames.shift()
    if (frame === undefined) return
    if ('setupComplete' in frame) this.isReady = true
    const { serverContent } = frame as { serverContent?: JsonObject }
    if (serverContent?.['turnComplete'] === true) this.isGenerating = false
    if ('toolCall' in frame || (serverContent !== undefined && isOfAnswer(serverContent))) this.model.hasAnswered = true
    this.listener.frame(Buffer.from(JSON.stringify(frame)), true)
  }

  send(data: string | Buffer): void {
    const frame = JSON.parse(String(data)) as { [kind: string]: JsonObject }
    const { setup, clientContent, toolResponse, realtimeInput } = frame
    if ((setup === undefined) === (this.setup === undefined)) this.model.fault('The setup is the first frame, once.')
    if (setup !== undefined) {
      this.setup = setup
      this.frames.push({ setupComplete: this.model.kind === 'of the cloud' ? { sessionId: 'x' } : {} })
    } else if (!this.isReady) this.model.fault(`Before setupComplete: ${String(data).slice(0, 100)}`)
    if (clientContent !== undefined) {
      if (this.model.kind === 'third generation' && this.model.hasAnswered && clientContent['turns'] !== undefined)
        this.model.fault('Content after the first answer.')
      this.interrupt()
      if (clientContent['turnComplete'] === true) this.generate()
    }
    if (toolResponse !== undefined) this.take(toolResponse)
    if (realtimeInput !== undefined) this.hear(realtimeInput)
  }

  private take({ functionResponses }: JsonObject): void {
    for (const { id } of functionResponses as JsonObject[])
      if (!this.openCalls.delete(String(id))) this.model.lateResults++
    if (this.openCalls.size === 0) this.generate()
  }

  private hear(input: JsonObject): void {
    if (input['text'] !== undefined) {
      this.interrupt()
      this.generate()
    }
    if (input['activityStart'] !== undefined) {
      this.isActive = true
      this.interrupt()
    }
    if (input['activityEnd'] !== undefined) {
      if (!this.isActive) this.model.fault('The end of no activity.')
      this.isActive = false
      this.generate()
    }
    if (input['audioStreamEnd'] === true && this.isSpeaking) this.endSpeech()
    const audio = input['audio'] as JsonObject | undefined
    if (audio !== undefined) this.hearAudio(Buffer.from(String(audio['data']), 'base64'))
  }

  private hearAudio(bytes: Buffer): void {
    this.model.heard += bytes.length
    if (bytes.length % 2 === 1) this.model.fault('Half a sample.')
    const detection = (this.setup?.['realtimeInputConfig'] as JsonObject | undefined)?.['automaticActivityDetection']
    if ((detection as JsonObject | undefined)?.['disabled'] === true) {
      if (!this.isActive) this.model.fault('Audio outside of an activity.')
      return
    }
    let loudest = 0
    for (let at = 0; at < bytes.length; at += 2) loudest = Math.max(loudest, Math.abs(bytes.readInt16LE(at)))
    if (loudest > LOUD) {
      if (!this.isSpeaking) this.interrupt()
      this.isSpeaking = true
      this.silence = 0
    } else if (this.isSpeaking && (this.silence += bytes.length) > SILENCE) this.endSpeech()
  }

  private endSpeech(): void {
    this.isSpeaking = false
    this.silence = 0
    if (this.setup?.['inputAudioTranscription'] !== undefined) {
      this.model.transcripts++
      this.pushKept([content({ inputTranscription: { text: 'Hi.' } })])
    }
    this.generate()
  }

  private interrupt(): void {
    if (this.openCalls.size > 0) {
      this.frames.push({ toolCallCancellation: { ids: [...this.openCalls] } })
      this.openCalls.clear()
    }
    if (!this.isGenerating) return
    // Content of the answer that was not sent yet is dropped.
    const rest = this.frames.filter(frame => !('serverContent' in frame) || this.kept.has(frame))
    this.frames.splice(0, this.frames.length, ...rest)
    const isTogether = this.model.count++ % 2 === 0
    const end: JsonObject[] = isTogether
      ? [{ ...content({ interrupted: true, turnComplete: true }), ...USAGE }]
      : [content({ interrupted: true }), { ...content({ turnComplete: true }), ...USAGE }]
    this.pushKept(end)
  }

  private pushKept(frames: readonly JsonObject[]): void {
    for (const frame of frames) this.kept.add(frame)
    this.frames.push(...frames)
  }

  private generate(): void {
    const { next } = this.model
    this.model.next = 'speaks'
    this.isGenerating = true
    this.frames.push({ sessionResumptionUpdate: { newHandle: '', resumable: false } })
    if (next === 'calls' || next === 'calls twice') {
      const ids = Array.from({ length: next === 'calls' ? 1 : 2 }, () => `call_${++this.model.count}`)
      for (const id of ids) this.openCalls.add(id)
      this.isGenerating = false
      const calls = { toolCall: { functionCalls: ids.map(id => ({ id, name: 'find', args: { a: 1 } })) } }
      const isOver = this.model.kind === 'of the cloud'
      this.pushKept(isOver ? [calls, { ...content({ turnComplete: true }), ...USAGE }] : [calls])
      return
    }
    if (next === 'speaks')
      for (const text of ['It is ', 'sunny.']) this.frames.push(spoken(480), content({ outputTranscription: { text } }))
    this.frames.push(content({ generationComplete: true }), { ...content({ turnComplete: true }), ...USAGE })
    this.frames.push({ sessionResumptionUpdate: { newHandle: `h${++this.model.count}`, resumable: true } })
  }
}

/** Returns true for content of an answer or its end. */
const isOfAnswer = (content: JsonObject): boolean =>
  !('inputTranscription' in content) && !('generationComplete' in content)

const USAGE = { usageMetadata: { promptTokenCount: 10, responseTokenCount: 4, totalTokenCount: 14 } }

/** Models of the third generation take turns before their first answer only. Those of Google Cloud end a turn at its calls. */
export type Kind = 'second generation' | 'third generation' | 'of the cloud'

/** A model with all of its connections. */
export class Gemini {
  readonly kind: Kind
  hasAnswered = false
  readonly connections: GeminiConnection[] = []
  readonly faults: string[] = []
  next: Behaviour = 'speaks'
  /** Counts up for ids. */
  count = 0
  /** Number of transcripts of the user's turns. */
  transcripts = 0
  /** Bytes of audio of the user. */
  heard = 0
  lateResults = 0
  /** Connections that are refused before one is accepted again. */
  refusing = 0

  constructor(kind: Kind) {
    this.kind = kind
  }

  readonly dial = async (): Promise<GeminiConnection> => {
    if (this.refusing > 0) {
      this.refusing--
      throw new Error('refused')
    }
    const connection = new GeminiConnection(this)
    this.connections.push(connection)
    return connection
  }

  get isIdle(): boolean {
    return this.connections.every(({ isIdle }) => isIdle)
  }

  get last(): GeminiConnection {
    return this.connections.at(-1)!
  }

  step(): void {
    for (const connection of this.connections) connection.step()
  }

  fault(what: string): void {
    this.faults.push(what)
  }
}
