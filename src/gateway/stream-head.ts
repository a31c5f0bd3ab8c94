import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { lossHeaders, shown } from '../egress/losses.ts'
import {
  EVENT_STREAM,
  EventStream,
  JSON_ARRAY,
  JSON_LINES,
  type Source,
  streamHeaders,
} from '../egress/transport/sse.ts'
import type { EventWriter } from '../egress/writer.ts'
import { KeptStream, type Sink } from '../stored/index.ts'
import type { Beginning } from './early-head.ts'
import { locateLosses } from './locate-losses.ts'
import type { Prepared } from './prepare.ts'
import { withHead } from './response-head.ts'
import type { Answered, Attempt } from './types.ts'

/** How each kind of connection frames events. */
export const FRAMINGS = { events: EVENT_STREAM, array: JSON_ARRAY, lines: JSON_LINES } as const

/** The source of an answer that is whole already: there is nothing to hold up. */
export const NO_SOURCE: Source = { pause: () => {}, resume: () => {} }

/** Sends status and headers, and opens what the events are written to. */
export function beginStream(
  attempt: Attempt,
  losses: readonly Loss[],
  headers: Answered['headers'],
  source: Source,
): Sink {
  const { call, report, heartbeat, echo } = attempt
  const framing = FRAMINGS[call.framing]
  const lost = [...locateLosses(shown(losses), attempt), ...(echo?.losses ?? [])]
  report.begun(lost.length)
  call.reply.begin({ ...streamHeaders(framing), ...lossHeaders(lost), ...headers })
  const stream = new EventStream(call.reply, { framing, heartbeat: call.heartbeat, interval: heartbeat, source })
  return echo?.keep === undefined ? stream : new KeptStream(stream, echo.keep)
}

/** What writes an answer's events in the caller's format. */
export const eventWriter = ({ call, request, echo }: Attempt): EventWriter =>
  WRITERS[call.format]!.events!(echo?.request ?? request)

/** How an attempt's answer begins where its upstream keeps the caller waiting. */
export class AttemptBeginning implements Beginning {
  private readonly attempt: Attempt
  private readonly prepared: Prepared

  constructor(attempt: Attempt, prepared: Prepared) {
    this.attempt = attempt
    this.prepared = prepared
  }

  open(source: Source): Sink {
    return beginStream(this.attempt, this.prepared.losses, {}, source)
  }

  write(): Transducer<CanonicalEvent, WireEvent> {
    return eventWriter(this.attempt)
  }

  start(): CanonicalEvent {
    return withHead({ type: 'result-start' }, this.attempt)
  }
}
