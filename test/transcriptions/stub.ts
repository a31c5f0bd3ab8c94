import { createHash } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import busboy from 'busboy'

/** A form as an upstream received it. Files are recorded by size and hash only, so that they may be large. */
export interface SeenForm {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly files: readonly SeenFile[]
  /** Body that is not a form. */
  readonly raw: { readonly size: number; readonly hash: string; readonly text: string }
}

export interface SeenFile {
  readonly field: string
  readonly name: string | undefined
  readonly mediaType: string
  readonly size: number
  readonly hash: string
}

type Answering = (response: ServerResponse, seen: SeenForm) => unknown
/** Called before the body is read. Returns true if it has already answered. */
type Early = (message: IncomingMessage, response: ServerResponse) => boolean

/** An upstream on the loopback that takes recordings. */
export class Stub {
  readonly seen: SeenForm[] = []
  answer: Answering
  early: Early = () => false
  /** Number of requests that broke off before they were complete. */
  broken = 0
  private readonly server: Server
  readonly sockets = new Set<Socket>()

  private constructor(answer: Answering) {
    this.answer = answer
    this.server = createServer((message, response) => this.take(message, response))
    this.server.on('connection', socket => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
    })
  }

  static async open(answer: Answering): Promise<Stub> {
    const stub = new Stub(answer)
    await new Promise<void>(resolve => stub.server.listen(0, '127.0.0.1', resolve))
    return stub
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise(resolve => this.server.close(() => resolve()))
  }

  private take(message: IncomingMessage, response: ServerResponse): void {
    message.on('close', () => {
      if (!message.complete) this.broken++
    })
    if (this.early(message, response)) return
    const { url, headers } = message
    const done = (seen: Omit<SeenForm, 'url' | 'headers'>): void => {
      const all = { url: url!, headers, ...seen }
      this.seen.push(all)
      this.answer(response, all)
    }
    if (headers['content-type']?.startsWith('multipart/form-data') === true) readForm(message, done)
    else readRaw(message, done)
  }
}

function readForm(message: IncomingMessage, done: (seen: Omit<SeenForm, 'url' | 'headers'>) => void): void {
  const fields: [string, string][] = []
  const files: SeenFile[] = []
  const parser = busboy({ headers: message.headers })
  parser.on('field', (name, value) => fields.push([name, value]))
  parser.on('file', (field, stream, { filename, mimeType }) => {
    const hash = createHash('sha1')
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      hash.update(chunk)
    })
    stream.on('error', () => {})
    stream.on('end', () => files.push({ field, name: filename, mediaType: mimeType, size, hash: hash.digest('hex') }))
  })
  parser.on('error', () => {})
  parser.on('close', () => {
    if (message.complete) done({ fields, files, raw: { size: 0, hash: '', text: '' } })
  })
  message.pipe(parser)
}

function readRaw(message: IncomingMessage, done: (seen: Omit<SeenForm, 'url' | 'headers'>) => void): void {
  const hash = createHash('sha1')
  let size = 0
  const head: Buffer[] = []
  message.on('data', (chunk: Buffer) => {
    if (size < 8 * 1024 * 1024) head.push(chunk)
    size += chunk.length
    hash.update(chunk)
  })
  message.on('end', () =>
    done({
      fields: [],
      files: [],
      raw: { size, hash: hash.digest('hex'), text: Buffer.concat(head).toString('latin1') },
    }),
  )
}

export const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
