import type { Caller } from '../../access/index.ts'
import { ERRORS, GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { READERS } from '../../ingress/index.ts'
import type { Call } from '../call.ts'
import { toFailure } from '../failures.ts'
import { freshId } from '../fresh-id.ts'
import { type Log, Report } from '../report.ts'
import type { Running } from '../running.ts'
import { EventReply } from './event-reply.ts'

/** A request of the gateway's own, as the journey of a request takes it. */
export interface OwnRequest {
  readonly caller: Caller
  readonly call: Call
  readonly request: CanonicalRequest
  readonly report: Report
}

export interface OwnRequestOptions {
  readonly caller: Caller
  /** The message of the caller that it is made for. */
  readonly message: Call['message']
  readonly request: CanonicalRequest
  readonly signal: AbortSignal
}

export interface OwnRequestContext {
  answer(asked: OwnRequest): Promise<void>
  readonly running: Running
  readonly log: Log
}

/** The format each kind of work is read back from; conversations from `chat`. */
const FORMATS: { readonly [W in Work]?: Format } = { speech: 'speech', transcription: 'transcriptions' }

/** Streams of `chat` report usage on demand. */
const SPELLING = { chat: { stream_options: { include_usage: true } } } as const

/** Where it comes from, for the log. */
const PATH = '/v1/realtime'

/**
 * A request in a caller's name, routed and tried like any other. It has a line in the log, and is charged to no key.
 *
 * @throws GatewayError from the iterator, where nothing was answered. To leave the iterator ends the upstream's work.
 */
export async function* ownRequest(
  { caller, message, signal, ...options }: OwnRequestOptions,
  { answer, running, log }: OwnRequestContext,
): AsyncGenerator<CanonicalEvent> {
  const work = workOf(options.request)
  const format = FORMATS[work] ?? 'chat'
  const request: CanonicalRequest = {
    ...options.request,
    // A whole recording would be bytes without events.
    ...(work === 'speech' ? { stream: true } : {}),
    ...(format === 'chat' ? { spelling: SPELLING } : {}),
  }
  const reply = new EventReply(READERS[format]!, request)
  const wire = (): never => {
    throw new GatewayError({ kind: 'internal', message: 'The request is canonical already.' })
  }
  const call: Call = { id: `req_${freshId()}`, format, path: PATH, message, wire, framing: 'lines', own: true, reply }
  const report = new Report(call)
  report.key = caller.key
  report.asked(request)
  const leave = (): void => reply.leave()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  running.add(call)
  answer({ request, call, caller, report })
    .catch((thrown: unknown) => {
      const failure = toFailure(thrown)
      report.failed(failure.error, ERRORS[failure.error.kind].status)
      reply.fail(failure)
    })
    .finally(() => {
      running.remove(call)
      report.write(log)
    })
  try {
    yield* reply.read()
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
