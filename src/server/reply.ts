import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderSource, Reply } from '../gateway/index.ts'
import { CallerReply } from './caller-reply.ts'
import { drain, SILENCE_LIMIT } from './connection.ts'

/** A refused body this small is still read, so that the connection can be used again. */
const SMALL = 64 * 1024

type Headers = { readonly [name: string]: string }

/** What a reply depends on of its gateway. */
interface ReplyGateway {
  /** Milliseconds without reading after which a caller counts as gone. */
  readonly patience: number
  /** The gateway is stopping. */
  readonly leaving: boolean
}

/** A text of as many bytes as characters is ASCII, which is written without conversion. */
const encodingOf = (text: string, bytes: number): BufferEncoding => (bytes === text.length ? 'latin1' : 'utf8')

/** An answer over HTTP. */
export class HttpReply extends CallerReply implements Reply {
  rateHeaders: HeaderSource | undefined
  private readonly response: ServerResponse
  private readonly message: IncomingMessage
  private readonly own: Headers
  private readonly gateway: ReplyGateway
  /** Whether the body is framed in our own chunks. */
  private framed = false

  /** @param own the headers of every answer. */
  constructor(message: IncomingMessage, response: ServerResponse, own: Headers, gateway: ReplyGateway) {
    super()
    this.message = message
    this.response = response
    this.own = own
    this.gateway = gateway
    response.on('error', () => {})
    response.on('close', () => {
      if (!response.writableFinished) this.leave()
    })
    // Whoever left before, while a token was looked up, is not reported again.
    this.gone = response.destroyed
  }

  whole(status: number, headers: Headers, text: string): void {
    this.begun = true
    this.setKeepAlive()
    const length = Buffer.byteLength(text)
    const head = this.head(headers)
    head['content-length'] = String(length)
    if (this.message.complete || !hasBody(this.message) || Number(this.message.headers['content-length']) <= SMALL) {
      this.response.writeHead(status, head).end(text, encodingOf(text, length))
      if (!this.message.complete) this.takeRest()
      // What the system took at once needs no timer; the socket's own notices every byte that leaves.
      if (length > SMALL && !this.response.writableFinished) this.response.setTimeout(this.gateway.patience)
      return
    }
    head['connection'] = 'close'
    this.response.writeHead(status, head).write(text)
    // After an answer has ended, Node does not report to its message that the connection closed.
    drain(this.message, () => this.response.end(() => this.message.destroy()))
  }

  /** The gateway's own headers take precedence over an upstream's. */
  private head(headers: Headers): { [name: string]: string } {
    const head: { [name: string]: string } = { 'content-type': JSON_TYPE, ...headers, ...this.own }
    this.rateHeaders?.addTo(head)
    return head
  }

  /** While the gateway stops, a connection ends with its answer. */
  private setKeepAlive(): void {
    if (this.gateway.leaving) this.response.shouldKeepAlive = false
  }

  /** A caller that announced a body and sends none must not keep the connection. */
  private takeRest(): void {
    const { message } = this
    if (!hasBody(message)) return
    message.resume()
    setTimeout(() => message.complete || message.destroy(), SILENCE_LIMIT).unref()
  }

  /** Node decides by HTTP version and headers whether the body is chunked; the chunks are written here. */
  begin(headers: Headers, status = 200): void {
    this.begun = true
    this.setKeepAlive()
    this.response.writeHead(status, this.head(headers))
    this.framed = this.response.chunkedEncoding
    this.response.chunkedEncoding = false
  }

  /** A chunk leaves at once: Node would collect all of a tick, which the callers of this method have done already. */
  write(chunk: string | Uint8Array): boolean {
    const { socket } = this.response
    socket?.cork()
    const room = typeof chunk === 'string' ? this.writeText(chunk) : this.writeBytes(chunk)
    socket?.uncork()
    return room
  }

  end(text: string): void {
    const length = Buffer.byteLength(text)
    this.response.end(this.framed ? chunkOf(text, length) + LAST_CHUNK : text, encodingOf(text, length))
    // No heartbeat is written any more that would find out that the caller never reads the end.
    if (this.response.writableLength > 0) this.response.setTimeout(this.gateway.patience)
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

/* The chunks of a chunked body (RFC 9112, section 7.1). Node writes each in four writes, we write a text in one. */

/** The end of a chunk. */
const CHUNK_END = '\r\n'

/** The end of the body. */
const LAST_CHUNK = '0\r\n\r\n'

/** The head of a chunk of so many bytes. */
const chunkHead = (length: number): string => `${length.toString(16)}\r\n`

/** A text as a chunk, `length` bytes long in UTF-8; nothing where it is empty, which would end the body. */
const chunkOf = (text: string, length: number): string => (length === 0 ? '' : chunkHead(length) + text + CHUNK_END)
