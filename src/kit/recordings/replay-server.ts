import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf } from './body.ts'
import { differenceText } from './difference.ts'
import { errorAnswer } from './error-answer.ts'
import type { FiledRecording } from './folder.ts'
import { type Entry, Library, type Nearest } from './library.ts'
import { type ReadRequest, readRequest } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import { bytesIn, translatedAnswer } from './translated-answer.ts'

/** The header by which a test keeps the order of its own equal requests. */
const SCOPE = 'interlingua-replay-scope'

export interface ReplayOptions {
  readonly recordings: readonly FiledRecording[]
  readonly ignore?: readonly string[]
  /** Speed as a multiple of the recorded one. 0 waits for nothing. */
  readonly speed?: number
  readonly host?: string
  /** 0 for any free port. */
  readonly port?: number
}

/** A running server that answers from recordings. */
export interface Replay {
  readonly url: string
  /** The messages of all misses. */
  readonly misses: readonly string[]
  /** Files that no request has asked for. */
  readonly unused: readonly string[]
  close(): Promise<void>
}

/** Starts a server that answers requests of any format from recordings. */
export async function openReplay(options: ReplayOptions): Promise<Replay> {
  const { host = '127.0.0.1', port = 0, speed = 0 } = options
  const library = new Library(options.recordings, options.ignore)
  const misses: string[] = []
  const server = createServer((message, reply) => {
    answer(message, reply, { library, misses, speed }).catch(() => reply.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    misses,
    get unused() {
      return library.unused
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface Serving {
  readonly library: Library
  readonly misses: string[]
  readonly speed: number
}

async function answer(
  message: IncomingMessage,
  reply: ServerResponse,
  { library, misses, speed }: Serving,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const { method = 'GET', url = '/', headers } = message
  const request: ArrivedRequest = { method, url, headers, body: Buffer.concat(chunks) }
  const caller = readRequest(await recordedRequest(request, redactionFor(request, [])))
  const streams = caller !== undefined && (caller.streams || caller.canonical.stream)
  const found = await library.find(request, { format: caller?.route.format, streams }, String(headers[SCOPE] ?? ''))
  if (found === undefined || !('answer' in found)) {
    const missed = missText(request, found)
    misses.push(missed)
    errorAnswer(reply, url, { kind: 'not-found', message: missed, code: 'no_recording' })
  } else await serve(reply, found, { caller, streams, speed, url })
}

function missText({ method, url }: ArrivedRequest, nearest: Nearest | undefined): string {
  const begin = `No recording matches ${method} ${url.split('?', 1)[0]}.`
  if (nearest === undefined) return `${begin} There are no recordings.`
  return `${begin} The nearest is ${nearest.file}; it differs in:\n${differenceText(nearest.differences)}`
}

interface Served {
  readonly caller: ReadRequest | undefined
  readonly streams: boolean
  readonly speed: number
  readonly url: string
}

async function serve(reply: ServerResponse, entry: Entry, { caller, streams, speed, url }: Served): Promise<void> {
  const framing = caller?.streams && !/[?&]alt=sse\b/.test(url) ? 'array' : 'events'
  const isSame = entry.format === caller?.route.format && entry.streams === streams && isFramed(entry, framing)
  if (isSame || caller === undefined) return serveRecorded(reply, entry, speed)
  const translated = translatedAnswer(entry, caller, framing)
  if (translated === undefined)
    errorAnswer(reply, url, {
      kind: 'cannot-express',
      message: `${entry.file} has an answer of ${entry.format} that ${caller.route.format} cannot express.`,
    })
  else {
    reply.writeHead(translated.status, { 'content-type': translated.contentType })
    for (const chunk of translated.chunks) reply.write(chunk)
    reply.end()
  }
}

/** Whether the recorded stream is framed as the caller wants it; whole answers have no framing. */
const isFramed = ({ answer, streams }: Entry, framing: 'events' | 'array'): boolean =>
  !streams || answer.status >= 400 || /json/i.test(answer.headers['content-type'] ?? '') === (framing === 'array')

/** Sends the recorded bytes in their chunks, at their times divided by the speed. */
async function serveRecorded(reply: ServerResponse, entry: Entry, speed: number): Promise<void> {
  const { answer } = entry
  const began = performance.now()
  const at = async (ms: number): Promise<void> => {
    const left = speed === 0 ? 0 : ms / speed - (performance.now() - began)
    if (left > 1) await sleep(left)
  }
  await at(answer.ms)
  reply.writeHead(answer.status, answer.headers)
  reply.flushHeaders()
  for (const { ms, bytes } of answer.chunks?.map(chunk => ({ ms: chunk.ms, bytes: bytesOf(chunk) })) ?? [
    { ms: answer.ms, bytes: bytesIn(entry) },
  ]) {
    await at(ms)
    if (bytes.length > 0) await new Promise<void>(done => reply.write(bytes, () => done()))
  }
  if (answer.complete) reply.end()
  else reply.destroy()
}
