import type { Caller } from '../../access/index.ts'
import { ERRORS, GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { READERS } from '../../ingress/index.ts'
import type { RequestTrace, Traces } from '../../metrics/traces.ts'
import { FORMATS, formatMadeFor } from '../../providers/index.ts'
import { requestIdOf } from '../../usage/request-id.ts'
import type { Call } from '../call.ts'
import { toFailure } from '../failures.ts'
import { freshId } from '../fresh-id.ts'
import { onLossOf } from '../on-loss.ts'
import { type Recorder, Report } from '../report.ts'
import type { Running } from '../running.ts'
import type { Incoming } from '../types.ts'
import { EventReply } from './event-reply.ts'

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
  const wire = (): never => {
    throw new GatewayError({ kind: 'internal', message: 'The request is canonical already.' })
  }
  const call: Call = {
    id: requestIdOf(Date.now(), freshId()),
    format,
    path: PATH,
    message,
    wire,
    framing: 'lines',
    own: true,
    reply,
  }
  const report = new Report(call)
  report.caller = caller
  report.trace = within && traces.begin({ own: true, door: PATH, format, headers: { ...within.headers } })
  report.received(request)
  const leave = (): void => reply.leave()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  running.add(call)
  const onLoss = onLossOf(message, caller)
  const nothingElse = {
    trailing: undefined,
    session: undefined,
    drop: undefined,
    submission: undefined,
    capture: undefined,
  }
  answer({ request, call, caller, report, onLoss, ...nothingElse })
    .catch((thrown: unknown) => {
      const failure = toFailure(thrown)
      report.failed(failure.error, ERRORS[failure.error.kind].status)
      reply.fail(failure)
    })
    .finally(() => {
      running.remove(call)
      report.write(recorder)
    })
  try {
    yield* reply.read()
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
