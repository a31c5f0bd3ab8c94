import type { JsonObject } from '../canonical/node.ts'
import type { Reply, Worker } from '../gateway/index.ts'
import { faultOf, laned } from '../stored/frames.ts'

/** Where the frames of one turn go. */
export interface Wire {
  /** False when the reader is behind. */
  send(text: string): boolean
  onceDrained(listener: () => void): void
  /** Breaks the connection off. */
  cut(): void
}

export interface SocketReplyOptions {
  readonly wire: Wire
  readonly lane: string | undefined
  /** The reader wants to be told what was lost, in an event of its own: there are no headers to tell it in. */
  readonly tellsLosses: boolean
}

type Headers = { readonly [name: string]: string }

/** The answer to one turn on a socket: each event of its stream is a frame. */
export class SocketReply implements Reply {
  gone = false
  begun = false
  /** The turn came to nothing. */
  failed = false
  worker: Worker | undefined
  private readonly options: SocketReplyOptions

  constructor(options: SocketReplyOptions) {
    this.options = options
  }

  /** The reader left. */
  leave(): void {
    this.gone = true
    this.worker?.abort()
  }

  whole(status: number, headers: Headers, text: string): void {
    this.begun = true
    this.failed = true
    this.say(faultOf(status, headers, text))
  }

  begin(headers: Headers): void {
    this.begun = true
    const told = headers['interlingua-loss']
    if (told === undefined || !this.options.tellsLosses) return
    this.say({ type: 'interlingua.loss', losses: told.split('; '), count: Number(headers['interlingua-loss-count']) })
  }

  write(piece: string | Uint8Array): boolean {
    let room = true
    for (const line of String(piece).split('\n')) if (line !== '' && line !== DONE) room = this.pass(line)
    return room
  }

  end(text: string): void {
    this.write(text)
  }

  once(_: 'drain', listener: () => void): void {
    this.options.wire.onceDrained(listener)
  }

  destroy(): void {
    this.options.wire.cut()
  }

  private pass(line: string): boolean {
    this.failed ||= line.startsWith(FAILED)
    const { lane, wire } = this.options
    return wire.send(lane === undefined ? line : `${line.slice(0, -1)},"stream_id":${JSON.stringify(lane)}}`)
  }

  private say(event: JsonObject): void {
    this.options.wire.send(JSON.stringify(laned(event, this.options.lane)))
  }
}

const DONE = '[DONE]'
const FAILED = '{"type":"response.failed"'
