import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { EVENT_STREAM } from '../../../src/egress/transport/sse.ts'
import { channelAt } from '../../builders/config.ts'
import { type Asked, TestServer } from '../../builders/gateway.ts'
import { NATIVE } from '../../builders/write-options.ts'

/* A gateway with upstreams of every format for conversations, one model each, all in this process. */

/** Formats of which every pair is tried. */
const PAIRED: readonly Format[] = ['chat', 'responses', 'messages', 'contents']

/** All formats. The others are tried beside Chat Completions only. */
export const FORMATS: readonly Format[] = [...PAIRED, 'cohere-chat', 'interactions']

/** Returns true for a pair of formats that is tried. */
export const isTried = (from: Format, to: Format): boolean =>
  (PAIRED.includes(from) && PAIRED.includes(to)) || from === 'chat' || to === 'chat'

export const ASKED: CanonicalRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
  output: {},
  sampling: { maxTokens: 10 },
  stream: true,
}

/** Answer of an upstream. */
export interface Answer {
  readonly type: string
  readonly text: string
}

/** Returns a stream as an upstream of the format would send it. */
export const streamOf = (format: Format, events: Iterable<CanonicalEvent>): Answer => ({
  type: EVENT_STREAM.contentType,
  text: drain(WRITERS[format]!.events!(ASKED), events)
    .map(event => EVENT_STREAM.frame(event, false))
    .join(''),
})

/** Returns a request as a caller of the format writes it. Undefined if the format cannot express it. */
export function bodyOf(format: Format, request: CanonicalRequest): JsonObject | undefined {
  try {
    return WRITERS[format]!.request!(request, NATIVE).wire.body
  } catch {
    return undefined
  }
}

/** Number of characters of each chunk of an answer. */
const PIECE = 8192

export class Gateway {
  private readonly testServer: TestServer
  private readonly upstream: Server
  private readonly answers: Map<Format, Answer>

  private constructor(testServer: TestServer, upstream: Server, answers: Map<Format, Answer>) {
    this.testServer = testServer
    this.upstream = upstream
    this.answers = answers
  }

  static async open(): Promise<Gateway> {
    const answers = new Map<Format, Answer>()
    const upstream = createServer((message, response) => {
      message.resume().on('end', async () => {
        const { type, text } = answers.get(message.url!.split('/')[1]!)!
        response.writeHead(200, { 'content-type': type })
        for (let at = 0; at < text.length; at += PIECE) {
          response.write(text.slice(at, at + PIECE))
          await setImmediate()
        }
        response.end()
      })
    })
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
    const { port } = upstream.address() as AddressInfo
    const channels = FORMATS.map(format =>
      channelAt(`http://127.0.0.1:${port}/${format}`, {
        format,
        name: format,
        models: { named: new Map([[format, format]]), patterns: [] },
        timeout: { connect: 60_000, firstByte: 60_000, idle: 60_000 },
      }),
    )
    const config = { reasoningMemory: { retention: 3_600_000, memory: 2 ** 28 } }
    return new Gateway(await TestServer.open(channels, { config }), upstream, answers)
  }

  /** Sets the answer of the upstream of the format from now on. */
  answer(format: Format, answer: Answer): void {
    this.answers.set(format, answer)
  }

  /** Returns the answer that a caller of one format gets from an upstream of the other. */
  ask(from: Format, to: Format, body: JsonObject, stream: boolean): Promise<Asked> {
    if (from === 'contents')
      return this.testServer.ask(
        `/v1beta/models/${to}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body,
      )
    const headers: Record<string, string> = from === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}
    return this.testServer.ask(PATHS[from]!, { ...body, model: to, stream }, { headers })
  }

  async close(): Promise<void> {
    this.upstream.closeAllConnections()
    this.upstream.close()
    await this.testServer.server.close(0)
  }
}

const PATHS: { readonly [format: Format]: string } = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  'cohere-chat': '/v2/chat',
  interactions: '/v1beta/interactions',
}
