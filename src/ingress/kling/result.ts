import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, type Node, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskFile } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyText, defined, extrasOf } from '../fields.ts'
import { NO_REASON, NO_TASK, readSeconds, stateOf } from '../media/video.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './request.ts'

const ANSWER_FIELDS = new Set(['code', 'message', 'request_id', 'data'])
const KNOWN_FIELDS = new Set([
  ...['task_id', 'task_status', 'task_status_msg', 'task_result', 'created_at', 'updated_at'],
])

/**
 * Reads a task, `{code, message, data}`, from the answer to a submission or a status query (Kling's API, "Query Task").
 *
 * @throws GatewayError for any code but 0, and for a task without an id.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const { code } = body
  if (code != null && code !== 0) throw new GatewayError(readInnerError(body))
  const data = anyObject(body['data'])
  const id = idOf(data?.['task_id'])
  if (data === undefined || id === undefined) throw new GatewayError(NO_TASK)
  const unreadFields: string[] = []
  const createdAt = readTime(data, 'created_at', unreadFields)
  const task = readTask(data, unreadFields)
  const result = { id, ...defined({ createdAt }), candidates: [], task, ...extrasOf(FORMAT, body, ANSWER_FIELDS) }
  return withWireSource(result, FORMAT, body)
}

function idOf(value: Json | undefined): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : anyText(value)
  // An id that consists only of dots would lead to another path.
  return id === undefined || /^\.*$/.test(id) ? undefined : id
}

function readTask(data: JsonObject, unreadFields: string[]): CanonicalTask {
  const taskState = stateOf(data['task_status'])
  const videos = taskState === 'completed' ? readVideos(data['task_result']) : undefined
  const state = taskState === 'completed' && videos === undefined ? 'failed' : taskState
  const failure = state === 'failed' ? readFailure(data) : undefined
  if (failure === undefined || anyText(data['task_status_msg']) === undefined) unreadFields.push('task_status_msg')
  if (videos === undefined) unreadFields.push('task_result')
  const completedAt = state === 'completed' ? readTime(data, 'updated_at', unreadFields) : undefined
  if (state !== 'completed') unreadFields.push('updated_at')
  return {
    state,
    ...defined({ failure, files: videos?.files, seconds: videos?.seconds, completedAt }),
    ...withResult(extrasOf(FORMAT, data, KNOWN_FIELDS, unreadFields), videos?.otherFields),
  }
}

/** Adds the fields of a result other than its videos to the extras. */
function withResult(node: Pick<Node, 'extras'>, otherFields: JsonObject | undefined): typeof node {
  if (otherFields === undefined || Object.keys(otherFields).length === 0) return node
  return { extras: { [FORMAT]: { ...node.extras?.[FORMAT], task_result: otherFields } } }
}

/** Kling's messages for a prompt, image or result that failed content review. Tasks have no code for this. */
const REVIEW = /risk control|sensitive|violat|polic|moderation|prohibited|inappropriate|风控|敏感|违规|审核/i

/** Reads the failure of a task. A task that succeeded without a video has no reason. */
function readFailure({ task_status_msg: wire }: JsonObject): TaskFailure {
  const message = anyText(wire) || NO_REASON
  return { kind: REVIEW.test(message) ? 'content-review' : 'broken', message }
}

interface Videos {
  readonly files: readonly TaskFile[]
  readonly seconds: number | undefined
  /** Other fields of the result. */
  readonly otherFields: JsonObject
}

/** Reads the videos of a result. Returns undefined if there are none, or if one has no URL. */
function readVideos(wire: Json | undefined): Videos | undefined {
  const videos = isObject(wire) ? wire['videos'] : undefined
  if (!isObject(wire) || !Array.isArray(videos) || videos.length === 0) return undefined
  if (!videos.every(one => isObject(one) && typeof one['url'] === 'string' && one['url'] !== '')) return undefined
  const [first] = videos as readonly JsonObject[]
  const seconds = readSeconds(first!['duration'])
  const { videos: _, ...otherFields } = wire
  const files = (videos as readonly JsonObject[]).map(
    (video, index): TaskFile => ({
      variant: 'video',
      url: video['url'] as string,
      ...extrasOf(FORMAT, video, index === 0 && seconds !== undefined ? TIMED_VIDEO_FIELDS : VIDEO_FIELDS),
    }),
  )
  return { files, seconds, otherFields }
}

const VIDEO_FIELDS = new Set(['url'])
const TIMED_VIDEO_FIELDS = new Set(['url', 'duration'])

/**
 * Threshold that separates Unix seconds from milliseconds: larger than any time of this century in seconds, smaller
 * than any time since 1973 in milliseconds.
 */
const MILLISECONDS = 1e11

/** Reads a time as Unix seconds. Kling sends milliseconds, some compatible vendors seconds. */
function readTime(data: JsonObject, field: string, unreadFields: string[]): number | undefined {
  const time = data[field]
  if (typeof time === 'number' && time >= 0) return Math.floor(time >= MILLISECONDS ? time / 1000 : time)
  unreadFields.push(field)
  return undefined
}
