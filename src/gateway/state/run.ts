import { GatewayError } from '../../canonical/error.ts'
import type { WireEvent } from '../../canonical/exchange.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import { eventParser } from '../../ingress/sse.ts'
import type { Reply, Worker } from '../call.ts'
import { responseIn } from './kept-stream.ts'
import { Tape } from './tape.ts'

type Ended = 'cancelled' | 'failed'

/** An answer in the making that nobody waits for: what the gateway would tell a caller is kept for whoever asks. */
export class Run implements Reply {
  gone = false
  begun = false
  worker: Worker | undefined
  readonly tape = new Tape()
  /** The response as it stands. */
  response: JsonObject
  /** The response as it is told at once. */
  readonly first: JsonObject
  private readonly parser = eventParser()
  private readonly output: JsonObject[] = []
  /** The answer is whole. */
  private finished = false
  private failure: JsonObject | undefined

  /** @param response the response before anything is done for it. */
  constructor(response: JsonObject) {
    this.first = { ...response, status: 'queued', background: true }
    this.response = this.first
    this.tell('response.created')
    this.tell('response.queued')
  }

  private tell(type: string): void {
    this.tape.push(eventOf(type, this.response))
  }

  whole(status: number, _: object, text: string): void {
    const body = parseObject(text)
    if (status !== 200 || body === undefined) this.failure = failureIn(body)
    else this.finish(body)
  }

  begin(): void {
    this.begun = true
    this.response = { ...this.response, status: 'in_progress' }
  }

  write(piece: string | Uint8Array): boolean {
    for (const event of this.parser.push(Buffer.from(piece))) this.hear(event)
    return true
  }

  end(text: string): void {
    this.write(text)
    for (const event of this.parser.end()) this.hear(event)
  }

  once(): void {}

  destroy(): void {}

  /** The first event was told before there was an upstream; the last is told when the answer is kept. */
  private hear(event: WireEvent): void {
    if (event.event === 'response.created') return
    const response = responseIn(event)
    if (response !== undefined) this.finish(response)
    if (this.finished) return
    if (event.event === 'response.output_item.done') this.note(event)
    this.tape.push(event)
  }

  private finish(response: JsonObject): void {
    this.response = { ...response, background: true }
    this.finished = true
  }

  private note({ data }: WireEvent): void {
    const item = parseObject(data)?.['item']
    if (isObject(item)) this.output.push(item)
  }

  /** Nothing more comes: the response says how it ended. */
  settle(ended: Ended | undefined): void {
    if (this.finished) return
    const status = ended ?? 'failed'
    const error = status === 'failed' ? (this.failure ?? BROKEN) : null
    this.response = { ...this.response, status, error, output: this.output }
  }

  /** Tells how it ended to those who listen. */
  conclude(): void {
    this.tape.push(ending(this.response))
    this.tape.finish()
  }

  /** Nobody is to work on it any more. */
  abort(): void {
    this.gone = true
    this.worker?.abort()
  }
}

const eventOf = (type: string, response: JsonObject): WireEvent => ({
  event: type,
  data: JSON.stringify({ type, response, sequence_number: 0 }),
})

/** The last event of a stream. */
export const ending = (response: JsonObject): WireEvent => eventOf(`response.${response['status'] as string}`, response)

const BROKEN: JsonObject = { code: 'server_error', message: 'The response was not finished.' }

function failureIn(body: JsonObject | undefined): JsonObject {
  const error = body?.['error']
  if (!isObject(error)) return BROKEN
  const { code, message } = error
  return { code: typeof code === 'string' ? code : 'server_error', message: message ?? '' }
}

/** A response somebody worked on, who is not heard of any more. */
export const abandoned = (response: JsonObject): JsonObject => ({ ...response, status: 'failed', error: BROKEN })

export const tooMany = (most: number): GatewayError =>
  new GatewayError({
    kind: 'rate-limited',
    message: `This key has ${most} responses in the making in the background already.`,
    code: 'background_limit_reached',
    retryAfterSeconds: 5,
  })
