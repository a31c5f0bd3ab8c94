import type { GatewayError } from '../canonical/error.ts'
import { WRITERS } from '../egress/index.ts'
import { EventStream, streamHeaders } from '../egress/transport/sse.ts'
import { headersOf } from './failures.ts'
import { FRAMINGS, NO_SOURCE } from './stream-head.ts'
import type { Incoming } from './types.ts'

/**
 * Writes a failure as a stream where the caller requested one and clients of its format find that kind of failure
 * nowhere else (Codex reads `context_length_exceeded` only in `response.failed`).
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 * @returns whether it was written; otherwise it is to be written with its status.
 */
export function writeErrorStream(
  { call, request, report }: Incoming,
  failure: GatewayError,
  heartbeat: number,
): boolean {
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
