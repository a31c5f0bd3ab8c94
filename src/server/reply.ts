import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderSource, Reply, Worker } from '../gateway/index.ts'
import { CHUNK_END, chunkHead, chunkOf, LAST_CHUNK } from './chunked.ts'
import { drain, LINGER } from './connection.ts'

/** A body so small is taken off the line even when it was refused, so that the connection can be used again. */
const SMALL = 64 * 1024

type Headers = { readonly [name: string]: string }

/** Where callers are answered. */
interface House {
  /** Milliseconds after which a caller that takes nothing is gone. */
  readonly patience: number
  /** No more requests are wanted. */
  readonly leaving: boolean
}

/** A text of as many bytes as characters is ASCII, which leaves as it lies in memory. */
const encodingOf = (text: string, bytes: number): BufferEncoding => (bytes === text.length ? 'latin1' : 'utf8')

/** An answer over HTTP. */
export class HttpReply implements Reply {
  gone = false
  begun = false
  worker: Worker | undefined
  headers: HeaderSource | undefined
  private readonly response: ServerResponse
  private readonly message: IncomingMessage
  private readonly own: Headers
  private readonly house: House
  /** The body goes out in chunks of our own framing. */
  private framed = false

  /** @param own the headers every answer carries. */
  constructor(message: IncomingMessage, response: ServerResponse, own: Headers, house: House) {
    this.message = message
    this.response = response
    this.own = own
    this.house = house
    response.on('error', () => {})
    response.on('close', () => {
      if (response.writableFinished) return
      this.gone = true
      this.worker?.abort()
    })
  }

  whole(status: number, headers: Headers, text: string): void {
    this.begun = true
    this.lasts()
    const length = Buffer.byteLength(text)
    const all = this.head({ ...headers, 'content-length': String(length) })
    if (this.message.complete || !hasBody(this.message) || Number(this.message.headers['content-length']) <= SMALL) {
      this.response.writeHead(status, all).end(text, encodingOf(text, length))
      if (!this.message.complete) this.takeRest()
      // What the system took at once needs no timer; the socket's own sees every byte that leaves.
      if (length > SMALL && !this.response.writableFinished) this.response.setTimeout(this.house.patience)
      return
    }
    this.response.writeHead(status, { ...all, connection: 'close' }).write(text)
    // Once an answer is over, Node does not tell its message that the connection closed.
    drain(this.message, () => this.response.end(() => this.message.destroy()))
  }

  /** What is the caller's own stands above what an upstream said of itself. */
  private head(headers: Headers): Headers {
    return { 'content-type': JSON_TYPE, ...headers, ...this.own, ...this.headers?.read() }
  }

  /** Once no more requests are wanted, a connection ends with its answer. */
  private lasts(): void {
    if (this.house.leaving) this.response.shouldKeepAlive = false
  }

  /** Who announced a body and sends none must not keep the connection. */
  private takeRest(): void {
    const { message } = this
    if (!hasBody(message)) return
    message.resume()
    setTimeout(() => message.complete || message.destroy(), LINGER).unref()
  }

  /** Node decides by the caller's version of HTTP and our headers whether the body is chunked; the chunks are ours. */
  begin(headers: Headers, status = 200): void {
    this.begun = true
    this.lasts()
    this.response.writeHead(status, this.head(headers))
    this.framed = this.response.chunkedEncoding
    this.response.chunkedEncoding = false
  }

  /** A piece leaves at once: Node would gather all of a tick, which whoever writes here has done already. */
  write(piece: string | Uint8Array): boolean {
    const { socket } = this.response
    socket?.cork()
    const room = typeof piece === 'string' ? this.writeText(piece) : this.writeBytes(piece)
    socket?.uncork()
    return room
  }

  end(text: string): void {
    const length = Buffer.byteLength(text)
    this.response.end(this.framed ? chunkOf(text, length) + LAST_CHUNK : text, encodingOf(text, length))
  }

  once(event: 'drain', listener: () => void): void {
    this.response.once(event, listener)
  }

  destroy(): void {
    this.response.destroy()
  }

  private writeText(text: string): boolean {
    const length = Buffer.byteLength(text)
    return this.response.write(this.framed ? chunkOf(text, length) : text, encodingOf(text, length))
  }

  private writeBytes(bytes: Uint8Array): boolean {
    if (!this.framed || bytes.length === 0) return this.response.write(bytes)
    this.response.write(chunkHead(bytes.length))
    this.response.write(bytes)
    return this.response.write(CHUNK_END)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

const JSON_TYPE = 'application/json; charset=utf-8'
