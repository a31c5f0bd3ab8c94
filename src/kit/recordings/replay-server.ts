import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorKindOf } from '../../canonical/error.ts'
import { answerFor, wantsStream } from './answer-for.ts'
import { differenceText } from './difference.ts'
import { errorAnswer } from './error-answer.ts'
import { type Fault, FaultChooser } from './faults.ts'
import type { FiledRecording } from './folder.ts'
import { type Entry, Library, type Nearest } from './library.ts'
import { listening } from './listening.ts'
import { type MissPolicy, PassedMisses } from './passed-misses.ts'
import { type ReadRequest, readRequest, unreadableReason } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import { ReplaySockets } from './replay-sockets.ts'
import { sendAnswer, withFault } from './served-answer.ts'

/** The header by which a test keeps the order of its own equal requests. */
export const SCOPE = 'interlingua-replay-scope'

export interface ReplayOptions {
  readonly recordings: readonly FiledRecording[]
  readonly ignore?: readonly string[]
  /** Speed as a multiple of the recorded one. 0 waits for nothing. */
  readonly speed?: number
  readonly faults?: readonly Fault[]
  readonly seed?: number
  /** What happens to a request without a recording. Without it, the request fails. */
  readonly onMiss?: MissPolicy
  readonly host?: string
  /** 0 for any free port. */
  readonly port?: number
}

/** A running server that answers from recordings. */
export interface Replay {
  readonly url: string
  /** The messages of all requests that failed because no recording matches them. */
  readonly misses: readonly string[]
  /** Files that no request has asked for. */
  readonly unused: readonly string[]
  /** The models that recordings request. */
  readonly models: readonly string[]
  close(): Promise<void>
}

/** Starts a server that answers requests of any format from recordings. */
export async function openReplay(options: ReplayOptions): Promise<Replay> {
  const server = new ReplayServer(options)
  const listener = createServer((message, reply) => {
    server.answer(message, reply).catch(() => reply.destroy())
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
    models: [...new Set([...server.library.models, ...server.library.sessions.models])],
    close: async () => {
      server.sockets.close()
      await close()
      await server.passed?.close()
    },
  }
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
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { method = 'GET', url = '/', headers } = message
    const request: ArrivedRequest = { method, url, headers, body: Buffer.concat(chunks) }
    const scope = String(headers[SCOPE] ?? '')
    const recorded = await recordedRequest(request, redactionFor(request, []))
    const caller = readRequest(recorded)
    const streams = caller !== undefined && wantsStream(caller)
    await this.passed?.written()
    const found = await this.library.find(request, { format: caller?.route.format, streams }, scope)
    if (found !== undefined && 'answer' in found) return this.serve(reply, found, { caller, scope, url })
    if (this.passed !== undefined) return this.passed.pass(message, reply, Buffer.concat(chunks))
    const missed = missText(request, found, caller === undefined ? unreadableReason(recorded) : undefined)
    this.misses.push(missed)
    errorAnswer(reply, url, { kind: 'not-found', message: missed, code: 'no_recording' })
  }

  async session(message: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    const { url = '/', headers } = message
    const scope = String(headers[SCOPE] ?? '')
    await this.passed?.written()
    const request: ArrivedRequest = { method: 'GET', url, headers, body: Buffer.alloc(0) }
    const candidates = await this.library.sessions.candidates(request, scope)
    if (candidates.length > 0) this.sockets.accept(message, connection, head, { url, scope, candidates })
    else if (this.passed !== undefined) this.passed.passSession(message, connection, head)
    else this.sockets.refuse(connection, url)
  }

  private async serve(reply: ServerResponse, entry: Entry, { caller, scope, url }: Asked): Promise<void> {
    const fault = this.faults.next(entry.key.digest, scope)
    if (fault?.type === 'status')
      return errorAnswer(reply, url, {
        ...{ kind: errorKindOf(fault.status), httpStatus: fault.status, code: 'fault_on_demand' },
        message: `A fault on demand (--fault ${fault.status}:${fault.rate}).`,
        ...(fault.status === 429 || fault.status === 503 ? { retryAfterSeconds: 1 } : {}),
      })
    const answer = answerFor(entry, caller, url)
    if (answer !== undefined)
      return sendAnswer(reply, fault === undefined ? answer : withFault(answer, fault), this.speed)
    errorAnswer(reply, url, {
      kind: 'cannot-express',
      message: `${entry.file} has an answer of ${entry.format} that ${caller?.route.format} cannot express.`,
    })
  }
}

interface Asked {
  readonly caller: ReadRequest | undefined
  readonly scope: string
  /** Path and query. */
  readonly url: string
}

/** @param fault why the format of the endpoint cannot read the request. */
function missText({ method, url }: ArrivedRequest, nearest: Nearest | undefined, fault: string | undefined): string {
  const reason = fault === undefined ? '' : ` The request is invalid: ${fault}`
  const begin = `No recording matches ${method} ${url.split('?', 1)[0]}.${reason}`
  if (nearest === undefined) return `${begin} There are no recordings.`
  return `${begin} The nearest is ${nearest.file}; it differs in:\n${differenceText(nearest.differences)}`
}
