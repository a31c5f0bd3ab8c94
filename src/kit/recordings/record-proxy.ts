import { createServer, type IncomingMessage, request as overHttp, type ServerResponse } from 'node:http'
import { request as overHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Chunk } from './chunks.ts'
import { errorAnswer } from './error-answer.ts'
import { recordSockets } from './record-sockets.ts'
import { msSince, passedHeaders, upstreamUrl } from './record-urls.ts'
import type { Recorder } from './recorder.ts'

/** A running recording proxy. */
export interface RecordProxy {
  readonly url: string
  close(): Promise<void>
}

export interface RecordProxyOptions {
  /** The base URL of the upstream. */
  readonly upstream: string
  readonly recorder: Recorder
  readonly host?: string
  /** 0 for any free port. */
  readonly port?: number
}

/** Bytes; a larger exchange passes, but is not recorded. */
const MAX_RECORDED = 48 * 1024 * 1024

/** Starts a proxy that passes every request to the upstream and records the exchange. */
export async function openRecordProxy({
  upstream,
  recorder,
  host = '127.0.0.1',
  port = 0,
}: RecordProxyOptions): Promise<RecordProxy> {
  const server = createServer((message, reply) => pass(message, reply, upstream, recorder))
  const endSessions = recordSockets(server, upstream, recorder)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: async () => {
      endSessions()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await recorder.close()
    },
  }
}

/** Collects the chunks of a body while they pass, up to a limit. */
class PassingBody {
  readonly chunks: Chunk[] = []
  isTooLarge = false
  private size = 0
  private readonly began: number

  constructor(message: IncomingMessage, began: number) {
    this.began = began
    message.on('data', (bytes: Buffer) => this.take(bytes))
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks.map(({ bytes }) => bytes))
  }

  private take(bytes: Buffer): void {
    this.size += bytes.length
    if (this.size > MAX_RECORDED) {
      this.isTooLarge = true
      this.chunks.length = 0
    } else this.chunks.push({ ms: msSince(this.began), bytes })
  }
}

/** Passes one exchange; chunks go on as they arrive, in both directions. */
function pass(message: IncomingMessage, reply: ServerResponse, upstream: string, recorder: Recorder): void {
  const { method = 'GET', url = '/', headers } = message
  const [began, at] = [performance.now(), new Date()]
  const target = new URL(upstreamUrl(upstream, url))
  const send = target.protocol === 'https:' ? overHttps : overHttp
  const sent = new PassingBody(message, began)
  const outgoing = send(target, { method, headers: passedHeaders(headers) }, answer => {
    const ms = msSince(began)
    const got = new PassingBody(answer, began)
    reply.writeHead(answer.statusCode!, passedHeaders(answer.headers))
    reply.flushHeaders()
    answer.pipe(reply)
    answer.once('close', () => {
      if (!answer.complete) reply.destroy()
      if (sent.isTooLarge || got.isTooLarge) recorder.tooLarge(method, url)
      else
        recorder.exchange(
          { method, url, headers, body: sent.bytes },
          { status: answer.statusCode!, headers: answer.headers, ms, chunks: got.chunks, isComplete: answer.complete },
          at,
        )
    })
  })
  outgoing.on('error', fault => {
    if (reply.headersSent) reply.destroy()
    else errorAnswer(reply, url, { kind: 'unreachable', message: `The upstream cannot be reached: ${fault.message}` })
  })
  reply.once('close', () => {
    if (!reply.writableFinished) outgoing.destroy()
  })
  message.pipe(outgoing)
}
