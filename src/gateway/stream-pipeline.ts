import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { Taker } from '../channel/index.ts'
import type { Writer } from '../egress/writer.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import type { Sink } from '../stored/kept-stream.ts'
import { answerFailure } from './failures.ts'
import type { Report } from './report.ts'
import type { Gate } from './unfold-media.ts'

/** How one streamed answer is made, each step a machine of its own. */
export interface StreamSteps {
  /** The upstream's format to canonical. */
  readonly read: Transducer<WireEvent, CanonicalEvent>
  /** Undoes what was done to the request's tools. */
  readonly restore: Transducer<CanonicalEvent, CanonicalEvent> | undefined
  /** The event as the caller may see it: ids filled in, errors scrubbed; notes what the log wants. */
  see(event: CanonicalEvent): CanonicalEvent
  /** Canonical to the caller's format. */
  readonly writer: Required<Pick<Writer, 'events'>>
  /** What is answered, as the caller asked it. */
  readonly asked: CanonicalRequest
  /** Told of faults of ours. */
  readonly report: Pick<Report, 'broke'>
  /** Sends status and headers; what is written from now on is the caller's. */
  open(): Sink
  /** Milliseconds after which an answer that has begun is let through even without content (trap 85). */
  readonly patience: number
}

/**
 * A streamed answer on its way from upstream to caller. Until its first content it is held back, so that a failure
 * can still be answered by another channel; after it, a failure is an event of the caller's format.
 */
export class StreamPipeline implements Taker {
  /** Settles with the end of the answer; rejects with GatewayError where nothing was sent to the caller. */
  readonly done: Promise<void>
  private resolve!: (settled?: Promise<void>) => void
  private reject!: (failure: GatewayError) => void
  private readonly steps: StreamSteps
  private readonly write: Transducer<CanonicalEvent, WireEvent>
  private readonly parser = eventParser()
  private readonly began = performance.now()
  private timer: NodeJS.Timeout | undefined
  private held: CanonicalEvent[] = []
  private stream: Sink | undefined
  /** How the answer began, once something of it was sent. */
  private head: ResultStart | undefined
  private over = false

  constructor(steps: StreamSteps) {
    this.steps = steps
    this.write = steps.writer.events(steps.asked)
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.done.catch(() => {})
  }

  take(bytes: Uint8Array): void {
    if (this.over) return
    this.guarded(() => {
      for (const event of this.parser.push(bytes)) this.pass(this.steps.read.push(event))
      if (this.parser.overflowed) this.break(OVERFLOW)
      this.arm()
    })
  }

  end(): void {
    if (this.over) return
    this.guarded(() => {
      for (const event of this.parser.end()) this.pass(this.steps.read.push(event))
      this.pass(this.steps.read.end())
      if (this.over) return
      if (this.stream === undefined) this.break(EMPTY)
      else this.finish()
    })
  }

  /** The exchange broke. */
  fail(failure: GatewayError): void {
    if (!this.over) this.guarded(() => this.break(failure.error))
  }

  /** The caller left, or there is nothing to write: nothing more is written. */
  leave(failure: GatewayError): void {
    if (this.over) return
    this.close()
    this.stream?.stop()
    this.reject(failure)
  }

  /** The events of an answer that came whole. */
  takeWhole(events: Iterable<CanonicalEvent>): void {
    this.guarded(() => {
      for (const event of events) this.pass([event])
      if (!this.over) this.finish()
    })
  }

  /** The events of an answer that is still coming; they wait where the caller is behind. */
  async takeComing(events: AsyncIterable<CanonicalEvent>, gate: Gate): Promise<void> {
    try {
      for await (const event of events) {
        this.guarded(() => this.pass([event]))
        if (this.over) return
        this.arm()
        await gate.free
      }
    } catch (thrown) {
      if (thrown instanceof GatewayError) this.fail(thrown)
      else this.broke(thrown)
    }
  }

  /** Sees to it that what is held back does not wait forever; most answers come to their content at once. */
  private arm(): void {
    if (this.stream !== undefined || this.over || this.held.length === 0 || this.timer !== undefined) return
    const left = this.steps.patience - (performance.now() - this.began)
    this.timer = setTimeout(() => this.guarded(this.letThrough), Math.max(left, 1))
  }

  private pass(events: readonly CanonicalEvent[]): void {
    const { restore } = this.steps
    for (const event of events) {
      if (restore === undefined) this.one(event)
      else for (const restored of restore.push(event)) this.one(restored)
    }
  }

  private one(raw: CanonicalEvent): void {
    if (this.over) return
    const event = this.steps.see(raw)
    if (this.stream !== undefined) this.stream.push(this.write.push(event))
    else if (event.type === 'error') this.refuse(new GatewayError(event.error))
    else {
      this.held.push(event)
      if (DECIDING.has(event.type)) this.letThrough()
    }
    if (!this.over && (event.type === 'result-end' || event.type === 'error')) this.finish()
  }

  private readonly letThrough = (): void => {
    if (this.stream !== undefined || this.over || this.held.length === 0) return
    clearTimeout(this.timer)
    // Written before anything is sent: a writer that fails at once is still a failure with a status.
    const first = this.held.flatMap(event => this.write.push(event))
    if (this.held[0]?.type === 'result-start') this.head = this.held[0]
    this.held = []
    this.stream = this.steps.open()
    this.stream.push(first)
    this.stream.send()
  }

  private break(error: CanonicalError): void {
    this.one({ type: 'error', error })
  }

  private finish(): void {
    this.letThrough()
    this.close()
    this.stream?.push(this.write.end())
    this.stream?.end()
    this.resolve(this.stream?.settled)
  }

  private refuse(failure: GatewayError): void {
    this.close()
    this.reject(failure)
  }

  private close(): void {
    this.over = true
    clearTimeout(this.timer)
  }

  /** A bug in a reader or writer ends this answer, not the process. */
  private guarded(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.broke(thrown)
    }
  }

  /** A fault of ours: where the answer has begun, it ends with an error of its format, and the cause is logged. */
  private broke(thrown: unknown): void {
    const failure = answerFailure(thrown)
    this.close()
    if (this.stream === undefined) {
      this.reject(failure)
      return
    }
    this.steps.report.broke(failure)
    try {
      this.stream.push(this.lastWords(failure.error))
      this.stream.end()
      this.resolve(this.stream.settled)
    } catch {
      this.stream.stop()
      this.reject(failure)
    }
  }

  /** The error as an event: of another writer, where it is this one that is broken. */
  private lastWords(error: CanonicalError): readonly WireEvent[] {
    try {
      return this.write.push({ type: 'error', error })
    } catch {
      const { writer, asked } = this.steps
      const another = writer.events(asked)
      another.push(this.head ?? { type: 'result-start' })
      return another.push({ type: 'error', error })
    }
  }
}

/** What settles that this channel answers: something of the answer itself, or its end. */
const DECIDING: ReadonlySet<CanonicalEvent['type']> = new Set([
  'part-delta',
  'part-patch',
  'part-end',
  'candidate-end',
  'result-end',
])

const OVERFLOW: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent an event larger than the gateway takes.',
}
const EMPTY: CanonicalError = { kind: 'upstream-failed', message: 'The upstream ended its answer before it began.' }
