import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { msSince } from '../../canonical/milliseconds.ts'
import type { ArrivedSession, Recorder } from '../../kit/recordings/recorder.ts'
import type { RecordingBudget } from './recording.ts'

/** Maximum number of frames recorded per session. Each frame costs memory beyond its bytes. */
const MAX_FRAMES = 100_000

type Side = 'caller' | 'upstream'
type Data = Parameters<WebSocket['send']>[0]

/** Records the session of a caller's WebSocket. In the recording, the gateway plays the upstream. */
export class RecordedSocket {
  private readonly message: IncomingMessage
  private readonly recorder: Recorder
  private readonly budget: RecordingBudget
  private readonly limit: number
  private readonly at: Date
  private readonly startTime = performance.now()
  private readonly frames: ArrivedSession['frames'][number][] = []
  private size = 0
  private isTooLarge = false
  private closedBy: Side = 'caller'

  /** @param limit maximum size of a session, in bytes. */
  constructor(message: IncomingMessage, recorder: Recorder, budget: RecordingBudget, limit: number) {
    this.message = message
    this.recorder = recorder
    this.at = recorder.startTime()
    this.budget = budget
    this.limit = limit
  }

  /** Starts recording the socket. */
  follow(socket: WebSocket): void {
    const { send, close } = socket
    socket.on('message', (data, isBinary) => this.take('caller', data, isBinary))
    socket.send = (data: Data, ...rest: readonly unknown[]) => {
      const [options] = rest as readonly [{ readonly binary?: boolean }?]
      this.take('upstream', data, typeof options === 'object' ? options.binary === true : typeof data !== 'string')
      Reflect.apply(send, socket, [data, ...rest])
    }
    socket.close = (...reason) => {
      if (!isAnsweringClose(socket)) this.closedBy = 'upstream'
      close.apply(socket, reason)
    }
    socket.once('close', (code, reason) => this.end(socket, code, String(reason)))
  }

  private take(from: Side, data: Data | Buffer[], isBinary: boolean): void {
    const bytes = bytesOf(data)
    const exceedsLimit = this.size + bytes.length > this.limit || bytes.length > this.budget.bytesLeft
    if (this.isTooLarge || exceedsLimit || this.frames.length >= MAX_FRAMES) return this.release(true)
    this.size += bytes.length
    this.budget.bytesLeft -= bytes.length
    this.frames.push({ ms: this.elapsed, from, bytes: Buffer.from(bytes), isBinary })
  }

  private end(socket: WebSocket, code: number, reason: string): void {
    const { url = '/', headers } = this.message
    if (this.isTooLarge) this.recorder.tooLarge('GET', url)
    else
      this.recorder.session(
        { method: 'GET', url, headers, body: Buffer.alloc(0) },
        {
          ...(socket.protocol === '' ? {} : { protocol: socket.protocol }),
          frames: [...this.frames],
          closed: { ms: this.elapsed, from: this.closedBy, code, ...(reason === '' ? {} : { reason }) },
        },
        this.at,
      )
    this.release(this.isTooLarge)
  }

  private release(isTooLarge: boolean): void {
    this.isTooLarge = isTooLarge
    this.budget.bytesLeft += this.size
    this.size = 0
    this.frames.length = 0
  }

  private get elapsed(): number {
    return msSince(this.startTime)
  }
}

/** Returns true if the peer closed first, so that `ws` itself calls `close`. `ws` has no public property for this. */
const isAnsweringClose = (socket: WebSocket): boolean => Reflect.get(socket, '_closeFrameReceived') === true

function bytesOf(data: Data | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data as string)
}
