import type { Bytes } from '../../canonical/bytes.ts'
import type { GatewayError } from '../../canonical/error.ts'
import { msSince } from '../../canonical/milliseconds.ts'
import type { Answer, Consumer } from '../../upstreams/channel/index.ts'
import type { Headers, Reply } from '../call.ts'
import { ForwardedReply } from '../forwarded-reply.ts'

/** Maximum size of a body that is shown, in bytes. */
export const MAX_SHOWN_SIZE = 1024 * 1024
/** Number of bytes recorded beyond the shown size, so that a secret at the cut is recognised as a whole. */
export const SCRUB_MARGIN = 40 * 1024

/** Maximum number of chunks recorded per body. Each chunk costs memory beyond its bytes. */
const MAX_PIECES = 20_000

/** Number of bytes that all recordings together may still use. */
export interface RecordingBudget {
  bytesLeft: number
}

/** A chunk of a body, and its time of arrival in milliseconds after the start of the request. */
export interface Piece {
  readonly ms: number
  readonly content: string | Uint8Array
}

/** Records one body and the times of its chunks, up to a limit. */
export class Recording {
  readonly pieces: Piece[] = []
  /** Number of bytes that passed. */
  size = 0
  /** Number of bytes that were recorded. */
  recordedSize = 0
  /** True if the whole body has passed. */
  isComplete = false
  private readonly startTime: number
  private readonly limit: number
  private budget: RecordingBudget

  /** @param startTime start of the request, by `performance.now()`. */
  constructor(startTime: number, budget: RecordingBudget, limit = MAX_SHOWN_SIZE + SCRUB_MARGIN) {
    this.startTime = startTime
    this.budget = budget
    this.limit = limit
  }

  get isCut(): boolean {
    return this.size > this.recordedSize || this.recordedSize > MAX_SHOWN_SIZE
  }

  /** True if some chunks passed without being recorded. */
  get isIncomplete(): boolean {
    return this.size > this.recordedSize
  }

  /** Records a copy of a chunk, because it may be a view of a larger buffer. Records nothing after a gap. */
  take(content: string | Uint8Array): void {
    const size = typeof content === 'string' ? Buffer.byteLength(content) : content.length
    const budget = this.size > this.recordedSize ? 0 : Math.min(this.limit - this.recordedSize, this.budget.bytesLeft)
    this.size += size
    if (budget <= 0 || size === 0 || this.pieces.length >= MAX_PIECES) return
    const part = size <= budget ? content : content.slice(0, budget)
    this.recordedSize += Math.min(size, budget)
    this.budget.bytesLeft -= Math.min(size, budget)
    this.pieces.push({ ms: this.elapsed, content: typeof part === 'string' ? part : Buffer.from(part) })
  }

  /** Frees the recorded bytes and stops recording. */
  release(): void {
    this.budget.bytesLeft += this.recordedSize
    this.budget = { bytesLeft: 0 }
    this.recordedSize = 0
    this.pieces.length = 0
  }

  get elapsed(): number {
    return msSince(this.startTime)
  }
}

/** Wraps an upstream's answer so that its body is recorded, no matter how it is read. */
export const recordedAnswer = (answer: Answer, recording: Recording): Answer => ({
  status: answer.status,
  headers: answer.headers,
  bodyKind: answer.bodyKind,
  pipeTo: consumer => answer.pipeTo(new RecordingConsumer(consumer, recording)),
  text: async limit => {
    const text = await answer.text(limit, part => recording.take(withoutLastWord(Buffer.from(part).toString('utf8'))))
    recording.take(text)
    recording.isComplete = true
    return text
  },
  bytes: () => recordedBytes(answer.bytes(), recording),
})

const WORD_END = /[\s"',:{}[\]]/

/** Returns a text without its last word, which may be half a secret. */
function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && !WORD_END.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

class RecordingConsumer implements Consumer {
  private readonly consumer: Consumer
  private readonly recording: Recording

  constructor(consumer: Consumer, recording: Recording) {
    this.consumer = consumer
    this.recording = recording
  }

  onData(bytes: Uint8Array): void {
    this.recording.take(bytes)
    this.consumer.onData(bytes)
  }

  onEnd(): void {
    this.recording.isComplete = true
    this.consumer.onEnd()
  }

  onError(error: GatewayError): void {
    this.consumer.onError(error)
  }
}

const recordedBytes = (bytes: Bytes, recording: Recording): Bytes => ({
  ...bytes,
  async *read() {
    for await (const chunk of bytes.read()) {
      recording.take(chunk)
      yield chunk
    }
    recording.isComplete = true
  },
})

/** A reply that records what is sent to the caller. */
export class RecordedReply extends ForwardedReply {
  status: number | undefined
  /** Headers of the answer, without those that the server adds to every answer. */
  head: Headers = {}
  /** Time from the start of the request to the head of the answer, in milliseconds. */
  headAfter: number | undefined
  readonly body: Recording

  constructor(reply: Reply, body: Recording) {
    super(reply)
    this.body = body
  }

  override whole(status: number, headers: Headers, text: string): void {
    this.recordHead(status, headers)
    this.body.take(text)
    this.body.isComplete = true
    super.whole(status, headers, text)
  }

  override begin(headers: Headers, status = 200): void {
    this.recordHead(status, headers)
    super.begin(headers, status)
  }

  override write(piece: string | Uint8Array): boolean {
    this.body.take(piece)
    return super.write(piece)
  }

  override end(text: string): unknown {
    this.body.take(text)
    this.body.isComplete = !this.gone
    return super.end(text)
  }

  private recordHead(status: number, headers: Headers): void {
    const head: { [name: string]: string } = { ...headers }
    this.rateHeaders?.addTo(head)
    this.status = status
    this.head = head
    this.headAfter = this.body.elapsed
  }
}
