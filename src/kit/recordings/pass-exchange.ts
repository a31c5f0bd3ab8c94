import { type IncomingMessage, request as overHttp, type ServerResponse } from 'node:http'
import { request as overHttps } from 'node:https'
import { msSince } from '../../canonical/milliseconds.ts'
import type { AbandonedExchanges } from './abandoned-exchanges.ts'
import type { Chunk } from './chunks.ts'
import { errorAnswer } from './error-answer.ts'
import { upstreamHeaders, upstreamUrl } from './record-urls.ts'
import type { Recorder } from './recorder.ts'
import { MAX_RECORDED, recordedSize } from './recording.ts'

export interface PassOptions {
  /** The base URL of the upstream. */
  readonly upstream: string
  /** Records the exchange. Without a recorder, the exchange is only passed on. */
  readonly recorder?: Recorder | undefined
  /** Answers of which a recorder gets the rest although their callers have left. */
  readonly abandoned: AbandonedExchanges
  /** The body of the request, if it was already read. */
  readonly body?: Buffer
}

/** Passes one exchange on to an upstream. Forwards chunks as they arrive, in both directions. */
export function passExchange(
  message: IncomingMessage,
  reply: ServerResponse,
  { upstream, recorder, abandoned, body }: PassOptions,
): void {
  const { method = 'GET', url = '/', headers } = message
  const [startedAt, at] = [performance.now(), recorder?.startTime() ?? new Date()]
  const target = targetOf(upstream, url)
  if (target instanceof Error) {
    message.resume()
    return errorAnswer(reply, url, { kind: 'invalid-request', message: `The request has no path: ${target.message}` })
  }
  const fail = (fault: Error): void => {
    if (reply.writableEnded) return
    if (reply.headersSent) reply.destroy()
    else errorAnswer(reply, url, { kind: 'unreachable', message: `The upstream cannot be reached: ${fault.message}` })
  }
  const send = target.protocol === 'https:' ? overHttps : overHttp
  const requestBody = body === undefined && recorder !== undefined ? new PassingBody(message, startedAt) : undefined
  /** What happens when the caller leaves. */
  let leave: () => unknown = () => outgoing.destroy()
  const outgoing = send(target, { method, headers: upstreamHeaders(headers) }, answer => {
    const ms = msSince(startedAt)
    const { statusCode: status = 0 } = answer
    if (status < MIN_STATUS) {
      fail(new Error(`it answered with status ${status}`))
      return void outgoing.destroy()
    }
    if (recorder !== undefined) {
      const answerBody = new PassingBody(answer, startedAt)
      // Runs before the caller receives the end of the answer, so that the caller's next request finds this exchange.
      onEnd(answer, isComplete => {
        if (requestBody?.isTooLarge || answerBody.isTooLarge) recorder.tooLarge(method, url)
        else
          recorder.exchange(
            { method, url, headers, body: body ?? requestBody!.bytes },
            { status, headers: answer.headers, ms, chunks: answerBody.chunks, isComplete },
            at,
          )
      })
    }
    leave = () => (recorder === undefined ? outgoing.destroy() : abandoned.readRest(outgoing, answer, reply))
    reply.writeHead(status, upstreamHeaders(answer.headers))
    reply.flushHeaders()
    answer.pipe(reply)
    answer.once('close', () => {
      if (!answer.complete) reply.destroy()
    })
  })
  outgoing.on('error', fail)
  reply.once('close', () => {
    if (!reply.writableFinished) leave()
  })
  if (body === undefined) message.pipe(outgoing)
  else outgoing.end(body)
}

/** Lowest status of HTTP. A server cannot send a lower one. */
const MIN_STATUS = 100

/** Returns the URL of a request at the upstream, or the error for a target that is no path. */
function targetOf(upstream: string, url: string): URL | Error {
  try {
    return new URL(upstreamUrl(upstream, url))
  } catch (thrown) {
    return thrown as Error
  }
}

/** Calls back once at the end of a message, or when its connection closes earlier. */
function onEnd(message: IncomingMessage, callback: (isComplete: boolean) => void): void {
  let isOver = false
  const end = (): void => {
    if (!isOver) callback(message.complete)
    isOver = true
  }
  message.once('end', end)
  message.once('close', end)
}

/** Collects the chunks of a body while they are passed on, up to a limit. */
class PassingBody {
  readonly chunks: Chunk[] = []
  isTooLarge = false
  private size = 0
  private readonly startedAt: number

  constructor(message: IncomingMessage, startedAt: number) {
    this.startedAt = startedAt
    message.on('data', (bytes: Buffer) => this.take(bytes))
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks.map(({ bytes }) => bytes))
  }

  private take(bytes: Buffer): void {
    this.size += recordedSize(bytes)
    if (this.size > MAX_RECORDED) {
      this.isTooLarge = true
      this.chunks.length = 0
    } else this.chunks.push({ ms: msSince(this.startedAt), bytes })
  }
}
