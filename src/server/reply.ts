import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderSource, Reply } from '../gateway/index.ts'
import { CallerReply } from './caller-reply.ts'
import { drain, SILENCE_LIMIT } from './connection.ts'

/** Maximum size of a refused body that is still read to the end, so that the connection can be reused, in bytes. */
const MAX_READ_REFUSED_BODY = 64 * 1024

/** Number of unsent bytes of an answer that count as nothing. */
const MAX_UNCOUNTED = 64 * 1024

type Headers = { readonly [name: string]: string }

/** State of the gateway on which replies depend. */
interface ReplyGateway {
  /** Time after which a caller that reads nothing is considered gone, in milliseconds. */
  readonly patience: number
  /** True if the gateway is stopping. */
  readonly isStopping: boolean
}

/**
 * Picks latin1 for ASCII strings, because it needs no conversion. A string is ASCII if it has as many bytes as
 * characters.
 */
const encodingOf = (text: string, bytes: number): BufferEncoding => (bytes === text.length ? 'latin1' : 'utf8')

/** The reply to a request over HTTP. */
export class HttpReply extends CallerReply implements Reply {
  rateHeaders: HeaderSource | undefined
  trailers: Headers | undefined
  private readonly response: ServerResponse
  private readonly message: IncomingMessage
  private readonly ownHeaders: Headers
  private readonly gateway: ReplyGateway
  /** True if this class writes the chunk framing instead of Node. */
  private writesChunks = false

  /** @param ownHeaders headers that every answer includes. */
  constructor(message: IncomingMessage, response: ServerResponse, ownHeaders: Headers, gateway: ReplyGateway) {
    super()
    this.message = message
    this.response = response
    this.ownHeaders = ownHeaders
    this.gateway = gateway
    response.on('error', () => {})
    response.on('close', () => {
      if (!response.writableFinished) this.abandon()
    })
    // The caller may have disconnected earlier, for example during a token lookup. `close` is not emitted again.
    this.gone = response.destroyed
  }

  whole(status: number, headers: Headers, text: string): void {
    this.started = true
    this.setKeepAlive()
    const length = Buffer.byteLength(text)
    const head = this.head(headers)
    head['content-length'] = String(length)
    if (
      this.message.complete ||
      !hasBody(this.message) ||
      Number(this.message.headers['content-length']) <= MAX_READ_REFUSED_BODY
    ) {
      this.response.writeHead(status, head).end(text, encodingOf(text, length))
      if (!this.message.complete) this.readRest()
      // If the kernel accepted all bytes, no timer is needed. Otherwise the socket's timeout restarts with every byte
      // sent.
      if (length > MAX_READ_REFUSED_BODY && !this.response.writableFinished)
        this.response.setTimeout(this.gateway.patience)
      return
    }
    head['connection'] = 'close'
    this.response.writeHead(status, head).write(text)
    // The message must be destroyed here, because Node no longer emits its `close` event once the answer has ended.
    drain(this.message, () => this.response.end(() => this.message.destroy()))
  }

  /** Merges headers. The gateway's headers override the upstream's. */
  private head(headers: Headers): { [name: string]: string } {
    const head: { [name: string]: string } = { 'content-type': JSON_TYPE, ...headers, ...this.ownHeaders }
    this.rateHeaders?.addTo(head)
    return head
  }

  /** Closes the connection after this answer if the gateway is stopping. */
  private setKeepAlive(): void {
    if (this.gateway.isStopping) this.response.shouldKeepAlive = false
  }

  /** Reads the rest of the body. Disconnects a caller that announced a body but does not send it. */
  private readRest(): void {
    const { message } = this
    if (!hasBody(message)) return
    message.resume()
    setTimeout(() => message.complete || message.destroy(), SILENCE_LIMIT).unref()
  }

  /**
   * Starts a streamed answer. Node decides by HTTP version and headers whether the body is chunked, but this class
   * writes the chunks.
   */
  begin(headers: Headers, status = 200): void {
    this.started = true
    this.setKeepAlive()
    this.response.writeHead(status, this.head(headers))
    this.writesChunks = this.response.chunkedEncoding
    this.response.chunkedEncoding = false
  }

  /** Sends a chunk immediately. Node would batch the writes of one tick, but this method's callers already do that. */
  write(chunk: string | Uint8Array): boolean {
    const { socket } = this.response
    socket?.cork()
    const hasRoom = typeof chunk === 'string' ? this.writeText(chunk) : this.writeBytes(chunk)
    socket?.uncork()
    return hasRoom
  }

  end(text: string): void {
    const length = Buffer.byteLength(text)
    this.response.end(this.writesChunks ? chunkOf(text, length) + this.lastChunk() : text, encodingOf(text, length))
    // No more heartbeats are sent, so a timeout must detect a caller that never reads the end.
    if (this.response.writableLength > 0) this.response.setTimeout(this.gateway.patience)
  }

  /** True if the body is chunked, so that trailers can follow, and the caller accepts trailers. */
  get acceptsTrailers(): boolean {
    return this.writesChunks && acceptsTrailers(this.message)
  }

  /** The last chunk, including any trailers. */
  private lastChunk(): string {
    const { trailers } = this
    if (trailers === undefined) return LAST_CHUNK
    const fields = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`)
    return `0\r\n${fields.join('')}\r\n`
  }

  once(event: 'drain', listener: () => void): void {
    this.response.once(event, listener)
  }

  whenSent(listener: () => void): void {
    if (this.response.closed || this.response.writableLength <= MAX_UNCOUNTED) listener()
    else this.response.once('close', listener)
  }

  destroy(): void {
    this.response.destroy()
  }

  private writeText(text: string): boolean {
    const length = Buffer.byteLength(text)
    return this.response.write(this.writesChunks ? chunkOf(text, length) : text, encodingOf(text, length))
  }

  private writeBytes(bytes: Uint8Array): boolean {
    if (!this.writesChunks || bytes.length === 0) return this.response.write(bytes)
    this.response.write(chunkHead(bytes.length))
    this.response.write(bytes)
    return this.response.write(CHUNK_END)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Returns true if the caller accepts trailers (RFC 9110, section 10.1.4). */
const acceptsTrailers = ({ headers: { te } }: IncomingMessage): boolean =>
  te !== undefined && /(^|,)\s*trailers\s*($|[,;])/i.test(String(te))

const JSON_TYPE = 'application/json; charset=utf-8'

/* Chunked transfer coding (RFC 9112, section 7.1). Node needs four writes per chunk; this code needs one per string. */

const CHUNK_END = '\r\n'

/** The last chunk. It ends the body. */
const LAST_CHUNK = '0\r\n\r\n'

/** Returns the header of a chunk with `length` bytes. */
const chunkHead = (length: number): string => `${length.toString(16)}\r\n`

/**
 * Wraps a string of `length` UTF-8 bytes in a chunk. An empty string yields no chunk, because an empty chunk would end
 * the body.
 */
const chunkOf = (text: string, length: number): string => (length === 0 ? '' : chunkHead(length) + text + CHUNK_END)
