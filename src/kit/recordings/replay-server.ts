import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorKindOf } from '../../canonical/error.ts'
import type { Format } from '../../canonical/node.ts'
import { withEscapedControls } from '../../canonical/text.ts'
import { wantsWebSocket } from '../wants-websocket.ts'
import { answerFor, type RequestedAnswer, wantsStream } from './answer-for.ts'
import { textIn } from './body.ts'
import { differenceText } from './difference.ts'
import type { Entry } from './entry.ts'
import { errorAnswer } from './error-answer.ts'
import { type Fault, FaultChooser } from './faults.ts'
import type { FiledRecording } from './folder.ts'
import { Library, type Nearest, type WantedAnswer } from './library.ts'
import { listening } from './listening.ts'
import { addMiss } from './misses.ts'
import { newSuffix, suffixIn, withoutSuffixes } from './new-ids.ts'
import { type MissPolicy, PassedMisses } from './passed-misses.ts'
import { readRequest, unreadableReason } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import { decodedRequest } from './recorder.ts'
import { MAX_RECORDED } from './recording.ts'
import { ReplaySockets } from './replay-sockets.ts'
import { sendAnswer, withFault, withRange } from './served-answer.ts'

/** Header that gives each test its own order of equal requests. */
export const SCOPE_HEADER = 'interlingua-replay-scope'

export interface ReplayOptions {
  readonly recordings: readonly FiledRecording[]
  readonly ignore?: readonly string[]
  /** Speed as a multiple of the recorded speed. 0 means no waiting. */
  readonly speed?: number
  readonly faults?: readonly Fault[]
  readonly seed?: number
  /** Policy for a request without a recording. Without a policy, the request fails. */
  readonly onMiss?: MissPolicy
  readonly host?: string
  /** Port to listen on. 0 means any free port. */
  readonly port?: number
}

/** A running server that answers from recordings. */
export interface Replay {
  readonly url: string
  /** Messages for the first requests that failed because no recording matches them. */
  readonly misses: readonly string[]
  /** Files that no request has asked for. */
  readonly unused: readonly string[]
  /** Models requested in recordings. */
  readonly models: readonly RecordedModel[]
  close(): Promise<void>
}

/** Starts a server that answers requests of any format from recordings. */
export async function openReplay(options: ReplayOptions): Promise<Replay> {
  const server = new ReplayServer(options)
  const listener = createServer({ shouldUpgradeCallback: wantsWebSocket }, (message, reply) => {
    server.answer(message, reply).catch((fault: Error) => {
      if (reply.headersSent) reply.destroy()
      else
        errorAnswer(reply, message.url ?? '/', {
          kind: 'invalid-request',
          message: `The request cannot be read: ${fault.message}`,
        })
    })
  })
  listener.on('upgrade', (message, connection, head) => {
    connection.on('error', () => connection.destroy())
    server.session(message, connection, head).catch(() => connection.destroy())
  })
  const { url, close } = await listening(listener, options)
  return {
    url,
    misses: server.misses,
    get unused() {
      return [...server.library.unused, ...server.library.sessions.unused]
    },
    models: modelsOf(server.library),
    close: async () => {
      server.sockets.close()
      await close()
      await server.passed?.close()
    },
  }
}

/** A model requested in recordings, and the format of the requests. */
export interface RecordedModel {
  readonly id: string
  readonly format?: Format
}

function modelsOf({ models, sessions }: Library): readonly RecordedModel[] {
  const others = sessions.models.filter(id => !models.has(id))
  return [
    ...[...models].map(([id, format]) => (format === undefined ? { id } : { id, format })),
    ...[...new Set(others)].map(id => ({ id })),
  ]
}

class ReplayServer {
  readonly library: Library
  readonly misses: string[] = []
  readonly passed: PassedMisses | undefined
  readonly sockets: ReplaySockets
  private readonly speed: number
  private readonly faults: FaultChooser

  constructor({ recordings, ignore = [], speed = 0, faults = [], seed, onMiss }: ReplayOptions) {
    this.library = new Library(recordings, ignore)
    this.speed = speed
    this.faults = new FaultChooser(faults, seed)
    this.sockets = new ReplaySockets({ library: this.library.sessions, misses: this.misses, speed })
    this.passed = onMiss && new PassedMisses(onMiss, this.library, ignore)
  }

  async answer(message: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = message
    const body = await readBody(message)
    if (body === undefined) return refuseLarge(reply, url)
    const request = await decodedRequest({ method, url, headers, body })
    // Equal requests about different answers, such as polls of two videos, have separate orders.
    const answerSuffix = suffixIn(url)
    const scope = `${String(headers[SCOPE_HEADER] ?? '')}${answerSuffix ?? ''}`
    const recorded = await recordedRequest(request, redactionFor(request, []))
    const caller = readRequest(recorded)
    const streams = caller !== undefined && wantsStream(caller)
    await this.passed?.waitUntilWritten()
    const wantedAnswer: WantedAnswer = { format: caller?.route.format, streams }
    const found = await this.find(request, wantedAnswer, scope)
    const idSuffix = answerSuffix === undefined || method === 'POST' ? newSuffix() : answerSuffix
    const requestedAnswer = { caller, scope, url, idSuffix, range: rangeOf(message) }
    if (found !== undefined && 'answer' in found) return this.serve(reply, found, requestedAnswer)
    if (this.passed !== undefined) return this.passed.pass(message, reply, body)
    const missMessage = missText(request, found, caller === undefined ? unreadableReason(recorded) : undefined)
    addMiss(this.misses, missMessage)
    errorAnswer(reply, url, { kind: 'not-found', message: missMessage, code: 'no_recording' })
  }

  /** Finds the recording for a request, or for the request without the suffixes of its ids. Answers HEAD like GET. */
  private async find(
    request: ArrivedRequest,
    wantedAnswer: WantedAnswer,
    scope: string,
  ): Promise<Entry | Nearest | undefined> {
    const found = await this.library.find(request, wantedAnswer, scope)
    if (found !== undefined && 'answer' in found) return found
    const original = withoutSuffixesIn(request) ?? request
    const read = original.method === 'HEAD' ? { ...original, method: 'GET' } : original
    return read === request ? found : this.library.find(read, wantedAnswer, scope)
  }

  async session(message: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    const { url = '/', headers } = message
    const scope = String(headers[SCOPE_HEADER] ?? '')
    await this.passed?.waitUntilWritten()
    const request: ArrivedRequest = { method: 'GET', url, headers, body: Buffer.alloc(0) }
    const candidates = await this.library.sessions.candidates(request, scope)
    if (candidates.length > 0) this.sockets.accept(message, connection, head, { url, scope, candidates })
    else if (this.passed !== undefined) this.passed.passSession(message, connection, head)
    else this.sockets.refuse(connection, url)
  }

  private async serve(reply: ServerResponse, entry: Entry, requestedAnswer: RequestedDownload): Promise<void> {
    const { caller, scope, url, range } = requestedAnswer
    const fault = this.faults.next(entry.key.digest, scope)
    if (fault?.type === 'status')
      return errorAnswer(reply, url, {
        ...{ kind: errorKindOf(fault.status), httpStatus: fault.status, code: 'fault_on_demand' },
        message: `A fault on demand (--fault ${fault.status}:${fault.rate}).`,
        ...(fault.status === 429 || fault.status === 503 ? { retryAfterSeconds: 1 } : {}),
      })
    const fullAnswer = await answerFor(entry, requestedAnswer)
    const answer = fullAnswer && range !== undefined ? withRange(fullAnswer, range) : fullAnswer
    if (answer !== undefined)
      return sendAnswer(reply, fault === undefined ? answer : withFault(answer, fault), this.speed)
    errorAnswer(reply, url, {
      kind: 'cannot-express',
      message: `${entry.file} has an answer of ${entry.format} that ${caller?.route.format} cannot express.`,
    })
  }
}

/** Reads a body. Returns undefined if it is too large to be that of a recording. */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length
    if (size > MAX_RECORDED) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function refuseLarge(reply: ServerResponse, url: string): void {
  reply.shouldKeepAlive = false
  errorAnswer(reply, url, { kind: 'too-large', message: `A request has at most ${MAX_RECORDED} bytes.` })
}

interface RequestedDownload extends RequestedAnswer {
  readonly scope: string
  /** Value of the header `range` of a download. */
  readonly range: string | undefined
}

const rangeOf = ({ method, headers: { range } }: IncomingMessage): string | undefined =>
  method === 'GET' || method === 'HEAD' ? range : undefined

/** Removes the suffixes of ids from a request. Returns undefined if there are none. */
function withoutSuffixesIn(request: ArrivedRequest): ArrivedRequest | undefined {
  const { url, body } = request
  const text = textIn(body)
  const changed = { url: withoutSuffixes(url), text: text === undefined ? undefined : withoutSuffixes(text) }
  if (changed.url === url && changed.text === text) return undefined
  return { ...request, url: changed.url, body: changed.text === undefined ? body : Buffer.from(changed.text) }
}

/** @param fault reason why the format of the endpoint cannot read the request. */
function missText({ method, url }: ArrivedRequest, nearest: Nearest | undefined, fault: string | undefined): string {
  const reason = fault === undefined ? '' : ` The request is invalid: ${fault}`
  const summary = `No recording matches ${method} ${url.split('?', 1)[0]}.${reason}`
  if (nearest === undefined) return `${summary} There are no recordings of ${method} requests.`
  return `${summary} The nearest is ${withEscapedControls(nearest.file)}; it differs in:\n${differenceText(nearest.differences)}`
}
