import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskFile } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/google-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined } from '../fields.ts'
import { NO_REASON } from '../media/video.ts'

const FORMAT = 'veo'

/**
 * Reads an operation (`google.longrunning.Operation`) from the answer to `:predictLongRunning` or to a status query.
 * Operations report neither progress nor times. An operation that is not done counts as in progress.
 *
 * @throws GatewayError if there is no name that is a safe path, for example for an error under status 200.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const id = anyText(body['name'])
  if (id === undefined || !isOperation(id))
    throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NO_OPERATION)
  return { id, candidates: [], task: readTask(body) }
}

const NO_OPERATION = upstreamFailed('The upstream answered without an operation.')

/**
 * Returns true if a name is a path below the API version, such as `models/veo-3.1-generate-preview/operations/abc`, and
 * does not lead elsewhere.
 */
const isOperation = (name: string): boolean =>
  /^[\w.-]+(?:\/[\w.-]+)+$/.test(name) && !name.split('/').some(step => /^\.+$/.test(step))

function readTask(body: JsonObject): CanonicalTask {
  const error = anyObject(body['error'])
  if (error !== undefined) return { state: 'failed', failure: readFailure(error) }
  if (body['done'] !== true) return { state: 'in-progress' }
  const response = anyObject(body['response']) ?? {}
  const answer = anyObject(response['generateVideoResponse']) ?? response
  const files = readFiles(answer)
  const reasons = readReasons(answer)
  if (files.length === 0) return { state: 'failed', failure: withoutVideo(answer, reasons) }
  // Content review may withhold some of several videos. The others remain valid.
  const node = reasons.length === 0 ? {} : { extras: { [FORMAT]: { raiMediaFilteredReasons: reasons } } }
  return { state: 'completed', progress: 100, files, ...node }
}

/** Reads the videos: the Gemini API's `generatedSamples`, or Google Cloud's `videos`. */
function readFiles(answer: JsonObject): TaskFile[] {
  const samples = [answer['generatedSamples'], answer['generatedVideos'], answer['videos']].find(Array.isArray)
  return anyObjects(samples).flatMap(sample => {
    const video = anyObject(sample['video']) ?? sample
    const url = anyText(video['uri']) ?? anyText(video['gcsUri'])
    const mediaType = anyText(video['encoding']) ?? anyText(video['mimeType'])
    return url === undefined || url === '' ? [] : [{ variant: 'video' as const, url, ...defined({ mediaType }) }]
  })
}

const readReasons = ({ raiMediaFilteredReasons: reasons }: JsonObject): string[] =>
  Array.isArray(reasons) ? reasons.filter(reason => typeof reason === 'string') : []

/**
 * Returns the failure of an operation that succeeded without a video. Either content review withheld the video, or the
 * reason is unknown.
 */
function withoutVideo(answer: JsonObject, reasons: readonly string[]): TaskFailure {
  const isReviewed = reasons.length > 0 || (anyNumber(answer['raiMediaFilteredCount']) ?? 0) > 0
  if (!isReviewed) return { kind: 'broken', message: NO_REASON }
  return { kind: 'content-review', message: reasons.join(' ') || 'The video was held back by a review of its content.' }
}

/** The names of `google.rpc.Code` values by number. */
const CODES: { readonly [code: number]: string } = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
  16: 'UNAUTHENTICATED',
}

/** Google's messages for a prompt or image that failed content review. There is no code for this. */
const REVIEW = /responsible ai|sensitive words|usage guidelines|usage polic|violat|safety|prohibited|blocked by/i

function readFailure(error: JsonObject): TaskFailure {
  const message = anyText(error['message'])
  const number = anyNumber(error['code'])
  const code = anyText(error['status']) ?? (number === undefined ? undefined : (CODES[number] ?? String(number)))
  return {
    kind: message !== undefined && REVIEW.test(message) ? 'content-review' : 'broken',
    message: message === undefined || message === '' ? NO_REASON : message,
    ...defined({ code }),
  }
}
