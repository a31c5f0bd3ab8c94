import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import { unfold } from '../canonical/fold.ts'
import type { Loss } from '../canonical/loss.ts'
import { NOTHING } from '../canonical/transducer.ts'
import type { Answer, Exchange } from '../channel/index.ts'
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
import type { Reader } from '../ingress/reader.ts'
import { KeptStream, type Sink } from '../stored/kept-stream.ts'
import { checkedResult } from './check-result.ts'
import { eventsComing } from './collect-stream.ts'
import type { Beginning } from './early-head.ts'
import { GONE, publicEvent, toFailure } from './failures.ts'
import { locateLosses } from './locate-losses.ts'
import { readWireResult } from './read-result.ts'
import { responseHead, timed } from './response-head.ts'
import { publicHeaders } from './scrub.ts'
import { shapeOf } from './shape.ts'
import { inMp3, wantsMp3 } from './speech/container.ts'
import { encodedEvents } from './speech/encoding.ts'
import { StreamPipeline, type StreamSteps } from './stream-pipeline.ts'
import type { Collector } from './thoughts/collector.ts'
import { exchangeOf } from './thoughts/exchange.ts'
import type { Answered, Attempt, PreparedAttempt } from './types.ts'
import { Gate, unfoldMedia } from './unfold-media.ts'
import { withoutBytes } from './write-result.ts'

/**
 * Has an upstream's answer flow to the caller, event by event.
 *
 * @throws GatewayError where it failed before anything was sent to the caller, or the caller left.
 */
export async function streamResult(
  attempt: PreparedAttempt,
  exchange: Exchange,
  answer: Answer,
  reader: Reader,
): Promise<void> {
  const { call, prepared } = attempt
  const whole = shapeOf(answer, reader, true) !== 'events'
  const coming = whole ? undefined : encoding(attempt, answer, reader)
  const gate = new Gate()
  const source = whole || coming !== undefined ? gate : exchange
  const stream = new StreamPipeline({
    read: reader.events?.(prepared.asked) ?? SILENT,
    restore: prepared.restorer?.events(),
    see: sight(attempt, attempt.thoughts?.collector(exchangeOf(attempt))),
    ...voiceOf(attempt),
    open: () => attempt.early?.take(source) ?? opened(attempt, source, answer),
    patience: attempt.heartbeat,
  })
  call.reply.worker = {
    abort: why => {
      left(stream, why)
      exchange.abort()
      gate.resume()
    },
  }
  if (whole) await unfolded(attempt, stream, gate, answer, reader)
  else if (coming !== undefined) await stream.takeComing(coming, gate)
  else answer.flow(stream)
  await stream.done
}

/** Writes an answer that was made as a whole as the stream the caller asked for. */
export async function streamWholeResult(attempt: Attempt, { result, losses, headers }: Answered): Promise<void> {
  const { call } = attempt
  const stream = new StreamPipeline({
    read: SILENT,
    restore: undefined,
    see: sight(attempt),
    ...voiceOf(attempt),
    open: () => begin(attempt, losses, headers, NO_SOURCE),
    patience: attempt.heartbeat,
  })
  call.reply.worker = { abort: why => left(stream, why) }
  stream.takeWhole(unfold(await withoutBytes(result)))
  await stream.done
}

/** Ends an answer whose caller went away, or is to be told why it goes no further. */
const left = (stream: StreamPipeline, why: GatewayError | undefined): void =>
  why === undefined ? stream.leave(GONE) : stream.fail(why)

/** In which words the caller is told, and who hears of faults of ours. */
const voiceOf = ({ call, request, echo, report }: Attempt): Pick<StreamSteps, 'writer' | 'asked' | 'report'> => ({
  writer: WRITERS[call.format] as StreamSteps['writer'],
  asked: echo?.asked ?? request,
  report,
})

/** The events of an answer whose samples are encoded on their way; undefined where none are. */
function encoding(attempt: PreparedAttempt, answer: Answer, { events }: Reader) {
  if (events === undefined || !wantsMp3(attempt)) return undefined
  return encodedEvents(eventsComing(answer, events(attempt.prepared.asked)))
}

const SILENT = { push: () => NOTHING, end: () => NOTHING }
/** All of it is here already: there is nothing to hold up. */
export const NO_SOURCE: Source = { pause: () => {}, resume: () => {} }

/** Events as the caller may see them, noted on their way for the log, and for the next turn what the caller may lose. */
function sight(
  { call, request, candidate, report, echo }: Attempt,
  thoughts?: Collector,
): (event: CanonicalEvent) => CanonicalEvent {
  const withHead = responseHead(call.id, request.model, candidate, echo)
  return raw => {
    const event = publicEvent(raw, candidate, request.model)
    report.saw(event)
    thoughts?.saw(event)
    if (event.type === 'result-end') {
      const end = timed(event, call)
      return echo?.apply(end) ?? end
    }
    return event.type === 'result-start' ? withHead(event) : event
  }
}

/** Sends status and headers, and opens what the events are written to. */
function opened(attempt: PreparedAttempt, source: Source, answer: Answer): Sink {
  const { candidate, request } = attempt
  const headers = candidate.native ? publicHeaders(answer.headers, candidate, request.model) : {}
  return begin(attempt, attempt.prepared.losses, headers, source)
}

/** How the attempt's answer is begun where its upstream keeps the caller waiting. */
export function beginning(attempt: PreparedAttempt): Beginning {
  const { call, request, candidate, echo } = attempt
  return {
    open: source => begin(attempt, attempt.prepared.losses, {}, source),
    write: () => {
      const { writer, asked } = voiceOf(attempt)
      return writer.events(asked)
    },
    start: () => responseHead(call.id, request.model, candidate, echo)({ type: 'result-start' }),
  }
}

/** How each kind of connection frames events. */
export const FRAMINGS = { events: EVENT_STREAM, array: JSON_ARRAY, lines: JSON_LINES } as const

function begin(attempt: Attempt, losses: readonly Loss[], headers: Answered['headers'], source: Source): Sink {
  const { call, report, heartbeat, echo } = attempt
  const framing = FRAMINGS[call.framing]
  const lost = [...locateLosses(shown(losses), attempt), ...(echo?.losses ?? [])]
  report.begun(lost.length)
  call.reply.begin({ ...streamHeaders(framing), ...lossHeaders(lost), ...headers })
  const stream = new EventStream(call.reply, { framing, heartbeat: call.heartbeat, interval: heartbeat, source })
  return echo?.keep === undefined ? stream : new KeptStream(stream, echo.keep)
}

/** An upstream that answers whole although it was asked to stream: its bytes become events as they come. */
async function unfolded(
  attempt: PreparedAttempt,
  stream: StreamPipeline,
  gate: Gate,
  answer: Answer,
  reader: Reader,
): Promise<void> {
  try {
    const { asked, native } = attempt.prepared
    const result = checkedResult(await readWireResult(answer, reader, asked), asked, native)
    await stream.takeComing(unfoldMedia(wantsMp3(attempt) ? await inMp3(result) : result), gate)
  } catch (thrown) {
    stream.leave(toFailure(thrown))
  }
}
