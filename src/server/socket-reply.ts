import type { JsonObject } from '../canonical/node.ts'
import type { Reply } from '../gateway/index.ts'
import { errorEventOf, withLane } from '../gateway/stored/index.ts'
import { CallerReply } from './caller-reply.ts'

/** Sends WebSocket frames for one turn. */
export interface Wire {
  /** Sends a frame. Returns false if the reader is slow. */
  send(text: string): boolean
  onceDrained(listener: () => void): void
  /** Drops the connection. */
  cut(): void
}

export interface SocketReplyOptions {
  readonly wire: Wire
  readonly streamId: string | undefined
  /** True if losses are reported in a separate event. Frames have no headers for them. */
  readonly reportsLosses: boolean
}

type Headers = { readonly [name: string]: string }

/** The reply to one turn on a WebSocket. Every event of the stream is one frame. */
export class SocketReply extends CallerReply implements Reply {
  /** True if the turn failed. */
  failed = false
  trailers: Headers | undefined
  private readonly options: SocketReplyOptions

  constructor(options: SocketReplyOptions) {
    super()
    this.options = options
  }

  /** True if late losses are sent in an event at the end of the turn. Callers must request this. */
  get acceptsTrailers(): boolean {
    return this.options.reportsLosses
  }

  whole(status: number, headers: Headers, text: string): void {
    this.started = true
    this.failed = true
    this.sendEvent(errorEventOf(status, headers, text))
  }

  begin(headers: Headers): void {
    this.started = true
    this.sendLosses(headers)
  }

  private sendLosses(headers: Headers): void {
    const losses = headers['interlingua-loss']
    const added = headers['interlingua-added']
    if ((losses === undefined && added === undefined) || !this.options.reportsLosses) return
    this.sendEvent({
      type: 'interlingua.loss',
      losses: losses?.split('; ') ?? [],
      count: Number(headers['interlingua-loss-count'] ?? 0),
      ...(added === undefined ? {} : { added: added.split('; ') }),
    })
  }

  write(chunk: string | Uint8Array): boolean {
    let hasRoom = true
    for (const line of String(chunk).split('\n')) if (line !== '' && line !== DONE_MARKER) hasRoom = this.sendLine(line)
    return hasRoom
  }

  /** Ends the turn. Losses of a streamed answer are only known at this point. */
  end(text: string): void {
    this.write(text)
    if (this.trailers !== undefined) this.sendLosses(this.trailers)
  }

  once(_: 'drain', listener: () => void): void {
    this.options.wire.onceDrained(listener)
  }

  destroy(): void {
    this.options.wire.cut()
  }

  private sendLine(line: string): boolean {
    this.failed ||= line.startsWith(FAILED_EVENT_START)
    const { streamId, wire } = this.options
    return wire.send(streamId === undefined ? line : `${line.slice(0, -1)},"stream_id":${JSON.stringify(streamId)}}`)
  }

  private sendEvent(event: JsonObject): void {
    this.options.wire.send(JSON.stringify(withLane(event, this.options.streamId)))
  }
}

const DONE_MARKER = '[DONE]'
const FAILED_EVENT_START = '{"type":"response.failed"'
