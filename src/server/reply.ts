import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply, Worker } from '../gateway.ts'

/** A body so small is taken off the line even when it was refused, so that the connection can be used again. */
const SMALL = 64 * 1024
/** Milliseconds for which what a refused caller still sends is thrown away: closing at once would lose our answer. */
const LINGER = 1000

type Headers = { readonly [name: string]: string }

/** A text of as many bytes as characters is ASCII, which leaves as it lies in memory. */
const encodingOf = (text: string, bytes: number): BufferEncoding => (bytes === text.length ? 'latin1' : 'utf8')

/** An answer over HTTP. */
export class HttpReply implements Reply {
  gone = false
  begun = false
  worker: Worker | undefined
  private readonly response: ServerResponse
  private readonly message: IncomingMessage
  private readonly own: Headers

  /** `own` are the headers every answer carries. */
  constructor(message: IncomingMessage, response: ServerResponse, own: Headers) {
    this.message = message
    this.response = response
    this.own = own
    response.on('error', () => {})
    response.on('close', () => {
      if (response.writableFinished) return
      this.gone = true
      this.worker?.abort()
    })
  }

  whole(status: number, headers: Headers, text: string): void {
    this.begun = true
    const length = Buffer.byteLength(text)
    const all = { ...this.own, 'content-type': JSON_TYPE, ...headers, 'content-length': String(length) }
    if (this.message.complete || !hasBody(this.message) || Number(this.message.headers['content-length']) <= SMALL) {
      this.response.writeHead(status, all).end(text, encodingOf(text, length))
      return
    }
    this.response.writeHead(status, { ...all, connection: 'close' }).write(text)
    this.message.resume()
    const close = (): void => {
      clearTimeout(timer)
      this.response.end()
    }
    const timer = setTimeout(close, LINGER)
    this.message.once('close', close)
  }

  begin(headers: Headers): void {
    this.begun = true
    this.response.writeHead(200, { ...this.own, ...headers })
  }

  /** A piece leaves at once: Node would gather all of a tick, which whoever writes here has done already. */
  write(piece: string | Uint8Array): boolean {
    const { socket } = this.response
    socket?.cork()
    const room = this.response.write(piece)
    socket?.uncork()
    return room
  }

  end(text: string): void {
    this.response.end(text)
  }

  once(event: 'drain', listener: () => void): void {
    this.response.once(event, listener)
  }

  destroy(): void {
    this.response.destroy()
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

const JSON_TYPE = 'application/json; charset=utf-8'
