import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { WRITERS } from '../egress/index.ts'
import { EventStream, streamHeaders } from '../egress/transport/sse.ts'
import type { Call } from './call.ts'
import { headersOf } from './failures.ts'
import type { Report } from './report.ts'
import { FRAMINGS, NO_SOURCE } from './stream-result.ts'

/** A request that failed before anything was sent to its caller. */
interface Refused {
  readonly call: Call
  readonly request: CanonicalRequest
  readonly report: Report
  /** Milliseconds between signs of life on a silent stream. */
  readonly heartbeat: number
}

/**
 * Tells a failure as a stream where the caller asked for one and its format's clients look for that kind of failure
 * nowhere else (Codex knows `context_length_exceeded` from `response.failed` alone).
 *
 * @returns whether it was told; otherwise it is to be told with its status.
 */
export function writeErrorStream({ call, request, report, heartbeat }: Refused, failure: GatewayError): boolean {
  if (!request.stream || request.state?.background === true || call.reply.begun || call.reply.gone) return false
  const head = { id: call.id, model: request.model, createdAt: Math.floor(Date.now() / 1000) }
  const events = WRITERS[call.format]!.refused?.(failure.error, request, head, call.framing === 'lines')
  if (events === undefined) return false
  const framing = FRAMINGS[call.framing]
  report.unanswered(failure)
  report.begun(0)
  call.reply.begin({ ...streamHeaders(framing), ...headersOf(failure) })
  const stream = new EventStream(call.reply, {
    framing,
    heartbeat: call.heartbeat,
    interval: heartbeat,
    source: NO_SOURCE,
  })
  stream.push(events)
  stream.end()
  return true
}
