import type { Bytes } from '../canonical/bytes.ts'
import type { MediaPart, Part } from '../canonical/content.ts'
import { tooLarge } from '../canonical/error.ts'
import { readAllBytes } from '../canonical/read-bytes.ts'
import { type CanonicalResult, rankedAsRequested } from '../canonical/result.ts'
import { withReasoning } from '../canonical/shown-reasoning.ts'
import { workOf } from '../canonical/work.ts'
import { WRITERS } from '../egress/index.ts'
import { shownLosses } from '../egress/losses.ts'
import { reportedAnswerLosses } from './answer-losses.ts'
import { deliverImages } from './image-delivery.ts'
import { fallbackHeaders, headersOfLosses } from './locate-losses.ts'
import { publicResult, withCompletionTime, withHead } from './public-answer.ts'
import { MAX_ANSWER_SIZE } from './read-result.ts'
import { relay } from './relay.ts'
import { reasoningShown } from './shown-reasoning.ts'
import { inRequestedContainer } from './speech/container.ts'
import { markedUnstored, NOT_STORED } from './stored/index.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/**
 * Writes a whole answer to the caller: delivers images and converts audio as requested, removes everything that reveals
 * the upstream, writes the caller's format, stores the answer if requested, and sends it with the losses of both
 * directions.
 */
export async function writeResult(attempt: Attempt, wholeAnswer: WholeAnswer): Promise<void> {
  const { request, target, echo } = attempt
  const { call, report, capture } = attempt.incoming
  const delivery = deliver(attempt, wholeAnswer)
  const { result, losses: requestLosses, headers: more } = delivery instanceof Promise ? await delivery : delivery
  const writer = WRITERS[call.format]!
  const safe = publicResult(rankedAsRequested(result, request), target, request.model)
  const visible = withReasoning(safe, reasoningShown(attempt))
  const takesBytes = writer.bytes !== undefined && writer.answersInJson?.(request) !== true
  const encodable = takesBytes || !hasRaw(visible) ? visible : await withoutBytes(visible)
  const { wire, losses } = writer.result!(
    withHead(withCompletionTime(encodable, call), attempt),
    echo?.request ?? request,
  )
  const isStored = echo?.save === undefined || (await echo.save(wire.body))
  const reported = shownLosses(requestLosses).concat(
    reportedAnswerLosses(losses, safe.usage),
    echo?.losses ?? [],
    isStored ? [] : NOT_STORED,
  )
  report.recordLosses(reported)
  report.recordResult(safe)
  if (capture !== undefined) capture.answerLosses = shownLosses(losses)
  const headers = { ...wire.headers, ...headersOfLosses(reported, attempt), ...fallbackHeaders(report), ...more }
  const body = isStored ? wire.body : markedUnstored(wire.body)
  if (wire.raw === undefined) call.reply.whole(wire.status, headers, JSON.stringify(body))
  else await relay(call.reply, headers, wire.raw, attempt.heartbeat)
}

/** Returns the answer with images and audio delivered as the caller requested. */
function deliver(attempt: Attempt, wholeAnswer: WholeAnswer): WholeAnswer | Promise<WholeAnswer> {
  const work = workOf(attempt.request)
  if (work === 'image') return deliverImages(attempt, wholeAnswer)
  return work === 'speech' ? inRequestedContainer(attempt, wholeAnswer) : wholeAnswer
}

/** Converts the media bytes of a result to base64, because few formats accept bytes. */
export async function withoutBytes(result: CanonicalResult): Promise<CanonicalResult> {
  const candidates = result.candidates.map(async candidate => ({
    ...candidate,
    content: await Promise.all(candidate.content.map(part => (hasBytes(part) ? inBase64(part) : part))),
  }))
  return { ...result, candidates: await Promise.all(candidates) }
}

const hasRaw = ({ candidates }: CanonicalResult): boolean => candidates.some(({ content }) => content.some(hasBytes))

const hasBytes = (part: Part): part is MediaPart => part.type === 'media' && part.source.type === 'bytes'

/**
 * Converts a part's bytes to base64. Rejects with GatewayError `too-large` if they are more than the gateway may hold
 * in memory.
 */
export async function inBase64(part: MediaPart): Promise<MediaPart> {
  const { mediaType, bytes } = part.source as { mediaType: string; bytes: Bytes }
  const buffer = await readAllBytes(bytes, MAX_ANSWER_SIZE)
  if (buffer === undefined) throw tooLarge(`Media of more than ${MAX_ANSWER_SIZE} bytes cannot be translated.`)
  return { ...part, source: { type: 'base64', mediaType, data: buffer.toString('base64') } }
}
