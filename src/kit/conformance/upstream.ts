import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { AnswerGate, callerOf, callersBeside, inWordsOf } from './callers.ts'
import { isJson } from './content-types.ts'
import type { SentRequest } from './exchange.ts'
import { baseFormatOf, type Format, type FormFile, type Headers, isSameAction, type RawAnswer } from './format.ts'
import { FORMATS } from './formats/index.ts'
import { type JsonObject, objectOf, parseJson } from './json.ts'
import { openOrigin, urlOf } from './origins.ts'
import { type AnswerEnd, playAnswer } from './play-answer.ts'
import type { Scenario } from './scenario.ts'
import { type Wire, wireFor } from './scenario-files.ts'
import type { Frame } from './sockets/frame.ts'
import { playTurn } from './sockets/play-turn.ts'
import { accept, type Socket } from './sockets/socket.ts'
import { decodeBody } from './step-request.ts'
import { wantsWebSocket } from './wants-websocket.ts'

/** One request that reached the kit's upstream. */
export interface Arrival {
  readonly format: string
  /** Path below the base URL of the format. */
  readonly path: string
  readonly sent: SentRequest
  readonly body: JsonObject
  /** Files of a form. */
  readonly files?: readonly FormFile[] | undefined
  readonly stream: boolean
  /** Status of the answer. */
  readonly status: number
  /** End of the answer, or undefined while the answer is being written. */
  end?: AnswerEnd
}

/** Maximum size of a request, in bytes. Larger requests are refused. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024

/** Maximum number of answered requests per cell. */
const MAX_ARRIVALS = 100
/** Maximum time to wait until the answers of a cell have ended, in milliseconds. */
const SETTLE_TIMEOUT_MS = 15_000

/** One model for each base URL. */
const MODELS = [...new Set(Object.values(FORMATS).map(format => `kit-${baseFormatOf(format)}`))]

/** Session formats whose base URL ends with the version. */
const VERSIONED_SESSIONS = new Set(['realtime', 'realtime.beta'])

const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Converts a hand-written stream to what its request asks for, with the line ends of its format. */
export function streamOf(
  written: Buffer | undefined,
  { newline, adaptStream }: Format,
  request: Pick<Arrival, 'path' | 'body'>,
): Partial<RawAnswer> {
  if (written === undefined) return {}
  const bytes = newline === undefined ? written : Buffer.from(written.toString('utf8').replaceAll(/\r?\n/g, newline))
  return adaptStream?.(bytes, request) ?? { bytes, type: EVENT_STREAM }
}

/** Adapts a hand-written answer to the method that the path names. */
export function wholeOf(written: Buffer | undefined, { adaptAnswer }: Format, path: string): Buffer | undefined {
  if (written === undefined || adaptAnswer === undefined) return written
  const answer = objectOf(parseJson(written.toString('utf8')))
  const adapted = adaptAnswer(answer, path)
  return adapted === answer ? written : Buffer.from(JSON.stringify(adapted))
}

/** Returns true if a request asks for a format's list of models. */
const isListOf = ({ models }: Format, base: string, { method, url }: SentRequest): boolean =>
  models !== undefined && method === 'GET' && url.split('?')[0] === base + models.path

/** Returns the bytes that answer a request, from this step or else from the last earlier step with the same action. */
function wireOf({ wires, earlier }: Scenario, format: Format, method: string, path: string): Wire | undefined {
  return [wires, ...earlier.toReversed()]
    .map(one => wireFor(one, format))
    .find(wire => {
      if (wire === undefined) return false
      const wireRequest = {
        method: wire.request.method ?? 'POST',
        path: wire.request.path ?? format.path('', false, {}),
      }
      return isSameAction(format, { method, path }, wireRequest)
    })
}

/** Returns the error for a request that its version refuses, in scenarios that test the refusal. */
function refusalOf({ refusedBy }: Scenario, { name, versions }: Format, { sent, body }: RefusedRequest): Wire['error'] {
  const version = versions?.versionOf(sent.headers)
  if (!(name in refusedBy) || versions === undefined || version === undefined) return undefined
  const isAllowed = isDeepStrictEqual(versions.allowed(version, body), body)
  return isAllowed ? undefined : { status: 400, headers: {}, body: versions.refusal }
}

type RefusedRequest = Pick<Arrival, 'sent' | 'body'>

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    size += (chunk as Buffer).length
    if (size > MAX_REQUEST_BYTES) throw new Error('The request is too large for the upstream of the kit.')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

const flatHeaders = (headers: IncomingMessage['headers']): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** Answers a request whose cell has ended. */
function refuseLate(reply: ServerResponse): void {
  reply.writeHead(503, { 'content-type': 'application/json' })
  reply.end(JSON.stringify({ error: { message: 'The request came too late.', type: 'server_error' } }))
}

type UpgradeHandler = (message: IncomingMessage, connection: Duplex, head: Buffer) => void

/** The kit's upstream. Every format has its own base URL, and all of them answer with the same scenario. */
export class Upstream {
  private readonly server: Server
  private readonly origins: Server[] = []
  private scenario: Scenario | undefined
  private arrivals: Arrival[] = []
  private besides: Arrival[] = []
  private gate: AnswerGate | undefined
  private unknown: SentRequest[] = []
  private first = Promise.withResolvers<void>()
  private readonly pendingAnswers = new Set<Promise<void>>()
  private readonly models: readonly string[]
  private readonly sockets = new Set<Socket>()
  private otherHandler: (sent: SentRequest) => JsonObject | undefined = () => undefined
  private upgrade: UpgradeHandler = (_, connection) => connection.destroy()

  private constructor(models: readonly string[]) {
    this.models = models
    this.server = createServer({ shouldUpgradeCallback: wantsWebSocket }, (message, reply) => {
      this.answer(message, reply).catch(() => reply.destroy())
    })
    this.server.on('upgrade', (message, connection, head) => {
      connection.on('error', () => connection.destroy())
      const url = `${this.root}${message.url ?? '/'}`
      const format = Object.values(FORMATS).find(({ name, turns }) => turns && url.startsWith(`${this.base(name)}/`))
      if (format === undefined) this.upgrade(message, connection, head)
      else this.acceptTurns(format, url, [message, connection, head]).catch(() => connection.destroy())
    })
  }

  /** Listens on a free port of the loopback interface. */
  static async open(models: readonly string[] = MODELS): Promise<Upstream> {
    const upstream = new Upstream(models)
    await new Promise<void>((resolve, reject) => {
      upstream.server.once('error', reject)
      upstream.server.listen(0, '127.0.0.1', resolve)
    })
    return upstream
  }

  /** Returns a format's base URL, as clients are configured with it. */
  base(format: string): string {
    const knownFormat = FORMATS[format]
    if (knownFormat === undefined) return `${this.root}/${format}${VERSIONED_SESSIONS.has(format) ? '/v1' : ''}`
    return `${this.root}/${baseFormatOf(knownFormat)}${knownFormat.base}`
  }

  get root(): string {
    return urlOf(this.server)
  }

  /** Opens an additional address that serves a format at its root. */
  async origin(format: string): Promise<string> {
    const knownFormat = FORMATS[format]
    const origin = await openOrigin(this.server, `/${knownFormat === undefined ? format : baseFormatOf(knownFormat)}`)
    this.origins.push(origin)
    return urlOf(origin)
  }

  /** Starts to answer with a scenario and forgets earlier requests and answers. */
  play(scenario: Scenario): void {
    this.scenario = scenario
    // An answer that a peer never reads would otherwise hold up every later cell.
    this.pendingAnswers.clear()
    this.arrivals = []
    this.besides = []
    const others = callersBeside(scenario)
    this.gate = others.length === 0 ? undefined : new AnswerGate(others.length + 1)
    this.unknown = []
    this.first = Promise.withResolvers()
  }

  /** Requests for answers since `play`, in scenarios with several callers at once those of the main one. */
  get arrived(): readonly Arrival[] {
    return this.arrivals
  }

  /** Requests for answers since `play` by the other callers at once. */
  get arrivedBeside(): readonly Arrival[] {
    return this.besides
  }

  private get isFull(): boolean {
    return this.arrivals.length + this.besides.length >= MAX_ARRIVALS
  }

  /** Resolves when the first request has arrived since `play`. */
  get firstArrival(): Promise<void> {
    return this.first.promise
  }

  /** Requests since `play` to paths outside the scenario's formats. */
  get strays(): readonly SentRequest[] {
    return this.unknown
  }

  /** Waits until all answers have been written, but not longer than a limit, because a peer may never read them. */
  async settled(ms = SETTLE_TIMEOUT_MS): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    await Promise.race([Promise.all(this.pendingAnswers), promise])
    clearTimeout(timer)
  }

  /** Sets the handler for WebSocket handshakes of sessions. */
  onUpgrade(handle: UpgradeHandler): void {
    this.upgrade = handle
  }

  /** Sets the handler for requests to unknown paths. */
  onOther(handle: (sent: SentRequest) => JsonObject | undefined): void {
    this.otherHandler = handle
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    for (const server of [...this.origins, this.server]) {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }

  private async answer(message: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { arrivals } = this
    const body = await bodyOf(message)
    // The next cell does not get the blame for a request that began in this one.
    if (arrivals !== this.arrivals) return refuseLate(reply)
    const url = `${this.root}${message.url ?? '/'}`
    const { body: json, files } = await decodeBody(message.headers['content-type'] ?? '', body)
    const sent = { method: message.method ?? 'GET', url, headers: flatHeaders(message.headers), body }
    for (const format of Object.values(FORMATS)) {
      const base = this.base(format.name)
      if (!url.startsWith(`${base}/`)) continue
      const path = url.slice(base.length)
      const target = format.recognise(path, json, sent.method)
      // Formats may share a base URL. The scenario decides which one is meant.
      if (target === undefined || wireFor(this.scenario?.wires ?? {}, format) === undefined) continue
      if (this.isFull) break
      return this.model(format, { path, sent, body: json, files, stream: target.stream }, reply)
    }
    const listed = Object.values(FORMATS).find(format => isListOf(format, this.base(format.name), sent))
    if (listed?.models !== undefined) {
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.end(JSON.stringify(listed.models.list(this.models)))
      return
    }
    const otherAnswer = this.otherHandler(sent)
    if (otherAnswer !== undefined) {
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.end(JSON.stringify(otherAnswer))
      return
    }
    if (this.unknown.length < MAX_ARRIVALS) this.unknown.push(sent)
    reply.writeHead(404, { 'content-type': 'application/json' })
    reply.end(JSON.stringify({ error: { message: 'The upstream of the kit has no such path.', type: 'not_found' } }))
  }

  /** Records a request and returns its answer, in scenarios with several callers at once in the words of its own. */
  private record(format: Format, arrival: Omit<Arrival, 'format' | 'status'>) {
    const wire = wireOf(this.scenario!, format, arrival.sent.method, arrival.path)
    const { bytes, type } = arrival.stream
      ? streamOf(wire?.stream, format, arrival)
      : { bytes: wholeOf(wire?.whole, format, arrival.path), type: wire?.type }
    const error = refusalOf(this.scenario!, format, arrival) ?? wire?.error
    // A job exists before any step asks for it, but its state is still unknown.
    const status = error?.status ?? (wire === undefined ? 503 : bytes === undefined ? 501 : 200)
    const recorded: Arrival = { ...arrival, format: format.name, status }
    const caller = this.gate === undefined ? 0 : callerOf(arrival.sent.body)
    const list = caller === 0 ? this.arrivals : this.besides
    list.push(recorded)
    this.first.resolve()
    return { recorded, bytes: bytes && inWordsOf(caller, bytes), type, error, status }
  }

  private async recordEnd(recorded: Arrival, playing: Promise<AnswerEnd>): Promise<void> {
    const pendingEnd = playing.then(end => {
      recorded.end = end
    })
    this.pendingAnswers.add(pendingEnd)
    await pendingEnd.finally(() => this.pendingAnswers.delete(pendingEnd))
  }

  /** Accepts a connection whose frames are requests, and answers them in order. */
  private async acceptTurns(
    format: Format,
    url: string,
    handshake: readonly [IncomingMessage, Duplex, Buffer],
  ): Promise<void> {
    const headers = flatHeaders(handshake[0].headers)
    const socket = await accept(...handshake)
    this.sockets.add(socket)
    let before = Promise.resolve()
    const answer = ({ text, data }: Frame): void => {
      const body = data && format.turns!.body(data)
      if (body === undefined || this.isFull) return
      const sent = { method: 'GET', url, headers, body: Buffer.from(text) }
      const path = url.slice(this.base(format.name).length)
      before = before.then(() => this.turn(format, { path, sent, body, stream: true }, socket))
    }
    for (const frame of socket.received) answer(frame)
    socket.onFrame = answer
  }

  private async turn(format: Format, arrival: Omit<Arrival, 'format' | 'status'>, socket: Socket): Promise<void> {
    if (this.scenario === undefined) return
    const { turns } = format
    const { recorded, bytes, error, status } = this.record(format, arrival)
    if (error !== undefined || bytes === undefined) {
      const failed = error ?? { status, headers: {}, body: { error: { message: 'The scenario has no such answer.' } } }
      socket.send(JSON.stringify(turns!.errorFrame(failed)))
      return
    }
    await this.gate?.pass()
    await this.recordEnd(recorded, playTurn(bytes, socket, this.scenario.upstream))
  }

  private async model(
    format: Format,
    arrival: Omit<Arrival, 'format' | 'status'>,
    reply: ServerResponse,
  ): Promise<void> {
    const { recorded, type, bytes, error, status } = this.record(format, arrival)
    reply.socket?.setNoDelay(true)
    if (error !== undefined || bytes === undefined) {
      reply.writeHead(status, { 'content-type': 'application/json', ...error?.headers })
      reply.end(JSON.stringify(error?.body ?? { error: { message: 'The scenario has no such answer.' } }))
      return
    }
    await this.gate?.pass()
    // Audio is streamed while it is generated.
    const isChunked = arrival.stream || !isJson(type!)
    const head = arrival.stream
      ? { 'content-type': type!, 'cache-control': 'no-cache' }
      : { 'content-type': type!, ...(isChunked ? {} : { 'content-length': bytes.length }) }
    reply.writeHead(200, head)
    await this.recordEnd(recorded, playAnswer(bytes, isChunked, reply, this.scenario!.upstream))
  }
}
