import type { Caller } from '../../accounts/index.ts'
import { ERRORS, GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { unfold } from '../../canonical/fold.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMATS, formatMadeFor } from '../../formats/index.ts'
import { READERS } from '../../ingress/index.ts'
import type { Reader } from '../../ingress/reader.ts'
import { expectedTokens } from '../admission.ts'
import type { Abortable, Call, Reply } from '../call.ts'
import { toFailure } from '../failures.ts'
import type { RequestTrace, Traces } from '../metrics/traces.ts'
import { ownCall } from '../own-requests.ts'
import { onLossOf } from '../read-request.ts'
import { Report } from '../report.ts'
import type { Running } from '../running.ts'
import type { Incoming } from '../types.ts'
import type { Recorder } from '../usage-recorder.ts'

export interface OwnRequestOptions {
  readonly caller: Caller
  /** The message of the caller that it is made for. */
  readonly message: Call['message']
  readonly request: CanonicalRequest
  readonly signal: AbortSignal
  /** The trace it belongs to; undefined where none are made. */
  readonly within: RequestTrace | undefined
}

export interface OwnRequestContext {
  answer(incoming: Incoming): Promise<void>
  readonly running: Running
  readonly recorder: Recorder
  readonly traces: Traces
}

/** Where it comes from, for the log. */
const PATH = '/v1/realtime'

/**
 * A request in a caller's name, routed and tried like any other. It has a line in the log, and is charged to no key.
 *
 * @throws GatewayError from the iterator, where nothing was answered. To leave the iterator ends the upstream's work.
 */
export async function* ownRequest(
  { caller, message, signal, within, ...options }: OwnRequestOptions,
  { answer, running, recorder, traces }: OwnRequestContext,
): AsyncGenerator<CanonicalEvent> {
  const work = workOf(options.request)
  const format = formatMadeFor(work)
  const { usageOnDemand } = FORMATS.get(format)!
  const request: CanonicalRequest = {
    ...options.request,
    // A whole recording would be bytes without events.
    ...(work === 'speech' ? { stream: true } : {}),
    ...(usageOnDemand === undefined ? {} : { spelling: { [format]: usageOnDemand } }),
  }
  const reply = new EventReply(READERS[format]!, request)
  const call = ownCall(format, PATH, message, reply)
  const report = new Report(call)
  report.caller = caller
  report.trace = within && traces.begin({ own: true, door: PATH, format, headers: { ...within.headers } })
  report.received(request)
  report.expected = () => expectedTokens(request)
  const leave = (): void => reply.leave()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  running.add(call)
  const onLoss = onLossOf(message, caller)
  const nothingElse = { trailing: undefined, session: undefined, drop: undefined, submission: undefined }
  answer({ request, call, caller, report, onLoss, ...nothingElse, capture: undefined })
    .catch((thrown: unknown) => {
      const failure = toFailure(thrown)
      report.failed(failure.error, ERRORS[failure.error.kind].status)
      reply.fail(failure)
    })
    .finally(() => {
      running.remove(call)
      recorder.record(report.outcome(recorder.pricesFor(caller)))
    })
  try {
    yield* reply.read()
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Events that may wait for the iterator before the upstream is paused. */
const HIGH = 256
const LOW = 64

/** The answer to a request of the gateway's own: read back into canonical events, for one iterator. */
class EventReply implements Reply {
  gone = false
  begun = false
  abortable: Abortable | undefined
  private readonly reader: Reader
  private readonly request: CanonicalRequest
  private readonly machine: Transducer<WireEvent, CanonicalEvent> | undefined
  private events: CanonicalEvent[] = []
  private failure: GatewayError | undefined
  private over = false
  private wake: (() => void) | undefined
  private drained: (() => void) | undefined

  constructor(reader: Reader, request: CanonicalRequest) {
    this.reader = reader
    this.request = request
    this.machine = request.stream ? reader.events?.(request) : undefined
  }

  begin(): void {
    this.begun = true
  }

  whole(status: number, headers: { readonly [name: string]: string }, text: string): void {
    this.begun = true
    const answer = { status, headers, body: parseObject(text) ?? ({} as JsonObject) }
    if (status >= 400) this.failure = new GatewayError(this.reader.error!(answer))
    else this.add([...unfold(this.reader.result!(answer, this.request))])
    this.finish()
  }

  write(piece: string | Uint8Array): boolean {
    for (const line of String(piece).split('\n'))
      if (line !== '') this.add(this.machine?.push(eventOf(line)) ?? NOTHING)
    return this.events.length < HIGH
  }

  end(text: string): void {
    this.write(text)
    this.add(this.machine?.end() ?? NOTHING)
    this.finish()
  }

  once(_: 'drain', listener: () => void): void {
    this.drained = listener
  }

  destroy(): void {
    this.fail(BROKEN)
  }

  /** What went wrong before anything was written, or where it broke off. */
  fail(error: GatewayError): void {
    this.failure ??= error
    this.finish()
  }

  /** The iterator was closed: the upstream's work ends. */
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
        if (this.events.length < LOW) this.drain()
        if (this.events.length > 0) continue
        if (this.failure !== undefined) throw this.failure
        if (this.over) return
        await new Promise<void>(resolve => (this.wake = resolve))
      }
    } finally {
      this.leave()
    }
  }

  private drain(): void {
    const { drained } = this
    this.drained = undefined
    drained?.()
  }

  private add(events: readonly CanonicalEvent[]): void {
    for (const event of events) this.events.push(event)
    this.wakeUp()
  }

  private finish(): void {
    this.over = true
    this.wakeUp()
  }

  private wakeUp(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }
}

/** A line of a stream; formats whose events have names repeat them inside. */
function eventOf(line: string): WireEvent {
  const value = line.startsWith('{') ? parseObject(line) : undefined
  return isObject(value) && typeof value['error'] === 'object' && value['error'] !== null && !('choices' in value)
    ? { event: 'error', data: line }
    : { data: line }
}

const BROKEN = new GatewayError({ kind: 'upstream-failed', message: 'The answer broke off.' })
