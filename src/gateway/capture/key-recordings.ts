import type { IncomingMessage } from 'node:http'
import type { RecordSettings } from '../../config/types.ts'
import type { Recorder } from '../../kit/recordings/recorder.ts'
import type { Log } from '../../log.ts'
import type { Call, Reply } from '../call.ts'
import type { RecordedSocket } from './recorded-socket.ts'
import { type Piece, RecordedReply, Recording, type RecordingBudget } from './recording.ts'

/** Maximum size of a body in bytes, as in the recording proxy. Larger exchanges are not recorded. */
const MAX_BODY_SIZE = 48 * 1024 * 1024
/** Maximum number of bytes held for all exchanges being recorded. Exchanges beyond this are not recorded. */
const MAX_TOTAL_SIZE = 256 * 1024 * 1024

/** The part of a call that is recorded. */
export interface RecordableCall extends Pick<Call, 'message'>, Partial<Pick<Call, 'body' | 'fromGateway'>> {
  reply: Reply
}

/** Records the exchanges and sessions of keys with `record` in the files that `interlingua replay` reads. */
export class KeyRecordings {
  private readonly recorders = new Map<string, Promise<Recorder | undefined>>()
  private readonly budget: RecordingBudget = { bytesLeft: MAX_TOTAL_SIZE }
  private readonly log: Log

  constructor(log: Log) {
    this.log = log
  }

  /**
   * Starts recording an exchange: replaces the call's reply with one that records what is sent. Returns undefined for a
   * turn on a WebSocket, because its session is recorded, and if the key's rules are invalid.
   */
  async begin(call: RecordableCall, settings: RecordSettings): Promise<RecordedCall | undefined> {
    if (call.body !== undefined || call.fromGateway === true) return undefined
    const recorder = await this.recorderFor(settings)
    return recorder && new RecordedCall(call, recorder, this.budget)
  }

  /** Starts recording a WebSocket session before its first frame. Returns undefined if the key's rules are invalid. */
  async beginSession(message: IncomingMessage, settings: RecordSettings): Promise<RecordedSocket | undefined> {
    const recorder = await this.recorderFor(settings)
    if (recorder === undefined) return undefined
    const { RecordedSocket } = await import('./recorded-socket.ts')
    return new RecordedSocket(message, recorder, this.budget, MAX_BODY_SIZE)
  }

  private recorderFor(settings: RecordSettings): Promise<Recorder | undefined> {
    return this.recorders.getOrInsertComputed(JSON.stringify(settings), () => this.recorderOf(settings))
  }

  /** Waits until everything is written. */
  async close(): Promise<void> {
    for (const recorder of this.recorders.values()) await (await recorder)?.close()
  }

  private async recorderOf(settings: RecordSettings): Promise<Recorder | undefined> {
    const { log } = this
    try {
      const { Recorder } = await import('../../kit/recordings/recorder.ts')
      return new Recorder({ ...settings, warn: message => log.warn({ folder: settings.folder }, message) })
    } catch (thrown) {
      log.error({ folder: settings.folder, fault: (thrown as Error).message }, 'requests of a key are not recorded')
      return undefined
    }
  }
}

/** An exchange with a caller that is being recorded. Holds only chunks, which are converted after the exchange. */
export class RecordedCall {
  private readonly call: RecordableCall
  private readonly recorder: Recorder
  private readonly at: Date
  private readonly requestBody: Recording
  private readonly reply: RecordedReply

  constructor(call: RecordableCall, recorder: Recorder, budget: RecordingBudget) {
    const startTime = performance.now()
    this.call = call
    this.recorder = recorder
    this.at = recorder.startTime()
    this.requestBody = new Recording(startTime, budget, MAX_BODY_SIZE)
    this.reply = new RecordedReply(call.reply, new Recording(startTime, budget, MAX_BODY_SIZE))
    call.reply = this.reply
  }

  /** Starts recording the bytes of the body. */
  recordBytes(): void {
    this.call.message.on('data', (chunk: Uint8Array) => this.requestBody.take(chunk))
  }

  /** Writes the exchange, unless nothing was answered or it was too large. */
  end(): void {
    const { method = 'POST', url = '/', headers } = this.call.message
    const { status, head, headAfter: beganAfter = 0, body } = this.reply
    if (this.requestBody.isIncomplete || body.isIncomplete) this.recorder.tooLarge(method, url)
    else if (status !== undefined)
      this.recorder.exchange(
        { method, url, headers, body: Buffer.concat(chunksOf(this.requestBody.pieces).map(({ bytes }) => bytes)) },
        {
          ...{ status, headers: { 'content-type': 'application/json', ...head }, ms: beganAfter },
          ...{ chunks: chunksOf(body.pieces), isComplete: body.isComplete },
        },
        this.at,
      )
    this.requestBody.release()
    body.release()
  }
}

const chunksOf = (pieces: readonly Piece[]): { readonly ms: number; readonly bytes: Buffer }[] =>
  pieces.map(({ ms, content }) => ({ ms, bytes: Buffer.from(content as string) }))
