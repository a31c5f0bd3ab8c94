import type { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { WRITERS } from '../egress/index.ts'
import { lossHeaders, shown } from '../egress/losses.ts'
import { EventStream, FRAMINGS, type Source, streamHeaders } from '../egress/transport/sse.ts'
import type { EventWriter, OwnEventWriter } from '../egress/writer.ts'
import { KeptStream, type Sink } from '../stored/index.ts'
import type { Call } from './call.ts'
import { headersOf } from './failures.ts'
import { locateLosses } from './locate-losses.ts'
import type { Attempt, Incoming, WholeAnswer } from './types.ts'

/** The source of an answer that is whole already: there is nothing to hold up. */
export const NO_SOURCE: Source = { pause: () => {}, resume: () => {} }

/** What writes an answer's events in the caller's format. */
export const eventWriter = ({ call, request, echo }: Attempt): EventWriter =>
  WRITERS[call.format]!.events!(echo?.request ?? request)

/** The same for events of the caller's own format; undefined where such are written anew, too. */
export const ownEventWriter = ({ call, request, echo }: Attempt): OwnEventWriter | undefined =>
  WRITERS[call.format]!.ownEvents?.(echo?.request ?? request)

/** Sends status and headers, and opens what the events of an answer are written to. */
export function beginStream(
  attempt: Attempt,
  losses: readonly Loss[],
  headers: WholeAnswer['headers'],
  source: Source,
): Sink {
  const { call, report, heartbeat, echo } = attempt
  const lost = [...locateLosses(shown(losses), attempt), ...(echo?.losses ?? [])]
  report.begun(lost.length)
  call.reply.begin({ ...streamHeaders(FRAMINGS[call.framing]), ...lossHeaders(lost), ...headers })
  const stream = streamTo(call, heartbeat, source)
  return echo?.keep === undefined ? stream : new KeptStream(stream, echo.keep)
}

const streamTo = ({ reply, framing, route }: Call, interval: number, source: Source): EventStream =>
  new EventStream(reply, { framing: FRAMINGS[framing], heartbeat: route.heartbeat, interval, source })

/** Pauses events that are pulled: whoever pulls them waits until the way is free. */
export class Gate implements Source {
  private closed: PromiseWithResolvers<void> | undefined

  pause(): void {
    this.closed ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.closed?.resolve()
    this.closed = undefined
  }

  /** Settles when the way is free. */
  get free(): Promise<void> | undefined {
    return this.closed?.promise
  }
}

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
  report.unanswered(failure)
  report.begun(0)
  call.reply.begin({ ...streamHeaders(FRAMINGS[call.framing]), ...headersOf(failure) })
  const stream = streamTo(call, heartbeat, NO_SOURCE)
  stream.push(events)
  stream.end()
  return true
}
