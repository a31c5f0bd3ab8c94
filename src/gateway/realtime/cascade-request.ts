import type { Caller, MaybePromise, Reservation } from '../../accounts/index.ts'
import { ERRORS, GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { unfold } from '../../canonical/fold.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMAT_FACTS, formatMadeFor } from '../../formats/index.ts'
import { READERS } from '../../ingress/index.ts'
import type { Reader } from '../../ingress/reader.ts'
import type { Abortable, Call, Reply } from '../call.ts'
import { gatewayCall, NO_STATE } from '../caller-requests.ts'
import { toFailure } from '../failures.ts'
import type { RequestTrace } from '../metrics/traces.ts'
import { onLossOf } from '../read-request.ts'
import { Report } from '../report.ts'
import type { Services } from '../services.ts'
import type { Incoming } from '../types.ts'

/** A request of a cascade, and its session. */
export interface CascadeRequestOptions {
  readonly caller: Caller
  /** The caller's HTTP message. Its headers apply to this request. */
  readonly message: Call['message']
  readonly request: CanonicalRequest
  readonly signal: AbortSignal
  /** Trace of the session, or undefined if it is not traced. */
  readonly sessionTrace: RequestTrace | undefined
  /** Reservation in the current limits of the session's key. */
  readonly reservation: Reservation
}

/** The steps of the gateway that a request of a session passes through. */
export interface RequestSteps {
  /** Reserves the expected tokens and cost. Throws or rejects with GatewayError if the key has too little left. */
  reserve(incoming: Incoming): MaybePromise
  answer(incoming: Incoming): Promise<void>
  /** Charges the limits and records the finished request. */
  finish(report: Report): void
}

/** Path of these requests in the log. */
const REALTIME_PATH = '/v1/realtime'

/**
 * Sends a request on behalf of the caller, such as a cascade's transcription. The request is reserved, routed, charged
 * and logged like any other; the session itself counts only its responses. Closing the iterator aborts the upstream
 * request.
 *
 * @throws GatewayError from the iterator, if the request fails.
 */
export async function* cascadeRequest(
  { caller, message, signal, sessionTrace, reservation, ...options }: CascadeRequestOptions,
  { running, traces }: Pick<Services, 'running' | 'traces'>,
  steps: RequestSteps,
): AsyncGenerator<CanonicalEvent> {
  const work = workOf(options.request)
  const format = formatMadeFor(work)
  const { usageOnDemand } = FORMAT_FACTS.get(format)!
  const request: CanonicalRequest = {
    ...options.request,
    // Without a stream, the answer would be raw bytes instead of events.
    ...(work === 'speech' ? { stream: true } : {}),
    ...(usageOnDemand === undefined ? {} : { spelling: { [format]: usageOnDemand } }),
  }
  const reply = new EventReply(READERS[format]!, request)
  const call = gatewayCall(format, REALTIME_PATH, message, reply)
  const report = new Report(call)
  report.caller = caller
  report.reservation = reservation
  report.trace =
    sessionTrace &&
    traces.begin({ isInternal: true, path: REALTIME_PATH, format, headers: { ...sessionTrace.headers } })
  const leave = (): void => reply.leave()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  running.add(call)
  const incoming = { ...NO_STATE, request, call, caller, report, onLoss: onLossOf(message, caller) }
  const run = async (): Promise<void> => {
    await steps.reserve(incoming)
    await steps.answer(incoming)
  }
  run()
    .catch((thrown: unknown) => {
      const failure = toFailure(thrown)
      report.recordError(failure.error, ERRORS[failure.error.kind].status)
      reply.fail(failure)
    })
    .finally(() => {
      running.remove(call)
      steps.finish(report)
    })
  try {
    yield* reply.read()
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Number of waiting events above which the upstream pauses. */
const PAUSE_ABOVE = 256
/** Number of waiting events below which the upstream resumes. */
const RESUME_BELOW = 64

/** A reply that converts the answer back into canonical events for one iterator. */
class EventReply implements Reply {
  gone = false
  started = false
  abortable: Abortable | undefined
  private readonly reader: Reader
  private readonly request: CanonicalRequest
  private readonly eventReader: Transducer<WireEvent, CanonicalEvent> | undefined
  private events: CanonicalEvent[] = []
  private failure: GatewayError | undefined
  private isOver = false
  private wake: (() => void) | undefined
  private onDrain: (() => void) | undefined

  constructor(reader: Reader, request: CanonicalRequest) {
    this.reader = reader
    this.request = request
    this.eventReader = request.stream ? reader.events?.(request) : undefined
  }

  begin(): void {
    this.started = true
  }

  whole(status: number, headers: { readonly [name: string]: string }, text: string): void {
    this.started = true
    const answer = { status, headers, body: parseObject(text) ?? ({} as JsonObject) }
    if (status >= 400) this.failure = new GatewayError(this.reader.error!(answer))
    else this.add([...unfold(this.reader.result!(answer, this.request))])
    this.finish()
  }

  write(piece: string | Uint8Array): boolean {
    for (const line of String(piece).split('\n'))
      if (line !== '') this.add(this.eventReader?.push(eventOf(line)) ?? NOTHING)
    return this.events.length < PAUSE_ABOVE
  }

  end(text: string): void {
    this.write(text)
    this.add(this.eventReader?.end() ?? NOTHING)
    this.finish()
  }

  once(_: 'drain', listener: () => void): void {
    this.onDrain = listener
  }

  destroy(): void {
    this.fail(INTERRUPTED)
  }

  /** Ends the iterator with an error, either before the first event or in the middle of the answer. */
  fail(error: GatewayError): void {
    this.failure ??= error
    this.finish()
  }

  /** Aborts the upstream request once the iterator is closed. */
  leave(): void {
    if (this.gone) return
    this.gone = true
    this.abortable?.abort()
    this.finish()
  }

  async *read(): AsyncGenerator<CanonicalEvent> {
    try {
      while (true) {
        const events = this.events
        this.events = []
        yield* events
        if (this.events.length < RESUME_BELOW) this.drain()
        if (this.events.length > 0) continue
        if (this.failure !== undefined) throw this.failure
        if (this.isOver) return
        await new Promise<void>(resolve => (this.wake = resolve))
      }
    } finally {
      this.leave()
    }
  }

  private drain(): void {
    const { onDrain: drained } = this
    this.onDrain = undefined
    drained?.()
  }

  private add(events: readonly CanonicalEvent[]): void {
    for (const event of events) this.events.push(event)
    this.wakeUp()
  }

  private finish(): void {
    this.isOver = true
    this.wakeUp()
  }

  private wakeUp(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }
}

/** Parses a line of a stream as an event. Errors are recognised by their fields, because lines have no event names. */
function eventOf(line: string): WireEvent {
  const value = line.startsWith('{') ? parseObject(line) : undefined
  return isObject(value) && typeof value['error'] === 'object' && value['error'] !== null && !('choices' in value)
    ? { event: 'error', data: line }
    : { data: line }
}

const INTERRUPTED = new GatewayError({ kind: 'upstream-failed', message: 'The answer was interrupted.' })
