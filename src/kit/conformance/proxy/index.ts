import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BOUNDS, send } from '../client.ts'
import type { ReceivedAnswer } from '../exchange.ts'
import { baseFormatOf, type Format, type Headers } from '../format.ts'
import { FORMATS } from '../formats/index.ts'
import { type JsonObject, objectOf, parseJson } from '../json.ts'
import { realtime } from '../sockets/realtime/index.ts'
import { type FrameMeddling, relay } from '../sockets/relay.ts'
import { decodeBody } from '../step-request.ts'

/** One exchange that passes through the proxy. A saboteur may change the request and the answer. */
export interface PassingExchange {
  readonly format: Format
  readonly stream: boolean
}

export interface Meddling {
  readonly request?: (body: Buffer, passing: PassingExchange) => Buffer
  /** Changes the path of a request. */
  readonly path?: (path: string) => string
  /** Changes the headers of requests and of handshakes. */
  readonly headers?: (headers: Headers) => Headers
  readonly answer?: (answer: ReceivedAnswer, passing: PassingExchange) => ReceivedAnswer
  /** Changes the answer to a request for a client secret. */
  readonly secret?: (answer: JsonObject) => JsonObject
  /** True if the upstream's connection stays open after the caller has disconnected. */
  readonly outlivesCaller?: boolean
  /** Creates the function that changes the frames of one session. */
  readonly frames?: () => FrameMeddling
}

export interface RunningProxy {
  readonly root: string
  close(): Promise<void>
}

export interface ProxyOptions {
  /** Root URL of the upstream. The base paths of the formats are the same as at the proxy. */
  readonly upstream: string
  readonly port?: number
  readonly meddling?: Meddling
}

/** Headers that apply to only one connection. */
const CONNECTION_HEADERS = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'keep-alive'])

const forwardedHeaders = (headers: IncomingMessage['headers'] | Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || CONNECTION_HEADERS.has(name) ? [] : [[name, String(value)]],
    ),
  )

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Returns the format and the stream flag of a request whose path begins with a format's base URL: `/<home>…`. */
async function passingExchange({ url = '/', method = 'GET', headers }: IncomingMessage, bytes: Buffer) {
  const { body } = await decodeBody(headers['content-type'] ?? '', bytes)
  for (const format of Object.values(FORMATS)) {
    const base = `/${baseFormatOf(format)}${format.base}`
    const target = url.startsWith(`${base}/`) ? format.recognise(url.slice(base.length), body, method) : undefined
    if (target !== undefined) return { format, stream: target.stream }
  }
  return undefined
}

/** Applies the change of a client secret to an answer that has one. */
function withSecret(answer: ReceivedAnswer, path: string, { secret }: Meddling = {}): ReceivedAnswer {
  if (secret === undefined || !path.endsWith(realtime.secrets!)) return answer
  const changedAnswer = secret(objectOf(parseJson(answer.body.toString('utf8'))))
  return { ...answer, body: Buffer.from(JSON.stringify(changedAnswer)) }
}

async function forward(message: IncomingMessage, reply: ServerResponse, options: ProxyOptions): Promise<void> {
  const path = message.url ?? '/'
  const requestBytes = await bodyOf(message)
  const passing: PassingExchange | undefined = await passingExchange(message, requestBytes)
  const body = (passing && options.meddling?.request?.(requestBytes, passing)) ?? requestBytes
  const original = forwardedHeaders(message.headers)
  const headers = options.meddling?.headers?.(original) ?? original
  const disconnection = new AbortController()
  if (!options.meddling?.outlivesCaller) reply.once('close', () => disconnection.abort())
  const sent = {
    method: message.method ?? 'GET',
    url: `${options.upstream}${options.meddling?.path?.(path) ?? path}`,
    headers,
    body,
  }
  const { got } = await send(sent, BOUNDS, {}, disconnection.signal)
  if (got === undefined) {
    reply.writeHead(502).end()
    return
  }
  const answer = (passing && options.meddling?.answer?.(got, passing)) ?? withSecret(got, path, options.meddling)
  // The body is decoded.
  const { 'content-encoding': _, ...answerHeaders } = forwardedHeaders(answer.headers)
  reply.writeHead(answer.status, answerHeaders)
  if (answer.isComplete) reply.end(answer.body)
  else reply.write(answer.body, () => reply.destroy())
}

/** Opens a proxy that forwards bytes without translating them. Each answer is buffered until it is complete. */
export async function openProxy(options: ProxyOptions): Promise<RunningProxy> {
  const server = createServer((message, reply) => {
    forward(message, reply, options).catch(() => reply.destroy())
  })
  server.on('upgrade', (message, connection, head) => {
    // A caller may reset the connection before the upstream has answered the handshake.
    connection.on('error', () => connection.destroy())
    const url = `${options.upstream}${message.url ?? '/'}`
    relay(url, [message, connection, head], options.meddling).catch(() => connection.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
