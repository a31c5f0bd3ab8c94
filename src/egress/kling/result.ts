import type { Losses, Written } from '../../canonical/loss.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { mergedFields, writeTaskAnswer } from '../media/video-task.ts'
import { FORMAT } from './request.ts'

const RESULT_LOSSES = {
  model: 'no-models',
  usage: 'no-usage',
  serviceTier: 'no-tiers',
  error: 'no-error-beside-a-task',
}
const TASK_LOSSES = {
  progress: 'no-progress',
  size: 'no-sizes',
  prompt: 'no-prompts',
  expiresAt: 'no-expiry',
  remixOf: 'no-remixes',
}
const STATES: { readonly [state in TaskState]: string } = {
  queued: 'submitted',
  'in-progress': 'processing',
  completed: 'succeed',
  failed: 'failed',
}

/**
 * Writes a task as Kling's `{code, message, data}` (Kling's API, "Query Task").
 *
 * @throws GatewayError `upstream-failed` if the answer is not a task.
 */
export const writeResult = (result: CanonicalResult): Written<WireAnswer> =>
  writeTaskAnswer(result, FORMAT, RESULT_LOSSES, (task, losses) => ({
    ...{ code: 0, message: 'SUCCEED', request_id: result.id ?? '' },
    data: writeData(result, task, losses),
  }))

function writeData(result: CanonicalResult, task: CanonicalTask, losses: Losses): JsonObject {
  const { id = '', createdAt } = result
  losses.dropFields(task, ['task'], TASK_LOSSES)
  const isCompleted = task.state === 'completed'
  if (!isCompleted) losses.dropFields(task, ['task'], { completedAt: 'with-its-end-only', files: 'with-its-end-only' })
  if (task.state !== 'failed') losses.dropFields(task, ['task'], { failure: 'of-failed-tasks-only' })
  const videos = isCompleted ? writeVideos(task, losses) : []
  const { beside, extras } = besideVideos(extrasFor(task, FORMAT), videos)
  if (videos.length === 0) losses.dropFields(task, ['task'], { seconds: 'with-its-video-only' })
  if (isCompleted && videos.length === 0) reportNoVideo(losses)
  const fields = {
    task_id: id,
    task_status: STATES[task.state],
    ...(task.state === 'failed' ? writeFailure(task.failure, losses) : {}),
    ...(createdAt === undefined ? {} : { created_at: createdAt * 1000 }),
    ...(videos.length > 0 && task.completedAt !== undefined ? { updated_at: task.completedAt * 1000 } : {}),
    ...(videos.length === 0 ? {} : { task_result: { videos, ...beside } }),
  }
  return mergedFields(extras, fields, result)
}

/** Separates the extras of `task_result`, which are written with the videos if there are any, from all other extras. */
function besideVideos(
  fields: JsonObject,
  videos: readonly JsonObject[],
): { readonly beside?: JsonObject; readonly extras: JsonObject } {
  const { task_result: taskResultExtras, ...extras } = fields
  return videos.length === 0 || !isObject(taskResultExtras) ? { extras: fields } : { beside: taskResultExtras, extras }
}

/** Writes the videos of a completed task with their URLs. The first video also has the duration. */
function writeVideos(task: CanonicalTask, losses: Losses): JsonObject[] {
  const { files = [], seconds } = task
  const isShown = files.map(({ variant, url }) => variant === 'video' && url !== undefined && url !== '')
  if (!isShown.includes(true)) {
    losses.dropFields(task, ['task'], { files: 'no-video-to-show' })
    return []
  }
  return files.flatMap((file, index): JsonObject[] => {
    const path = ['task', 'files', index]
    if (!isShown[index]) {
      losses.drop(path, 'videos-only')
      return []
    }
    losses.dropFields(file, path, { mediaType: 'no-media-types' })
    const isTimed = index === isShown.indexOf(true) && seconds !== undefined
    return [{ url: file.url!, ...(isTimed ? { duration: String(seconds) } : {}), ...extrasFor(file, FORMAT) }]
  })
}

/** Reports a completed task without a video, which Kling's clients treat as failed. */
function reportNoVideo(losses: Losses): void {
  losses.change(['task', 'state'], 'failed', 'no-video-to-show')
  losses.add(['task', 'failure'], { kind: 'broken', message: UNKNOWN_REASON }, 'no-video-to-show')
  losses.dropFields({ completedAt: 0 }, ['task'], { completedAt: 'no-video-to-show' })
}

/** Message for a failure that has none. */
const UNKNOWN_REASON = 'The upstream gave no reason why there is no video.'

/** Matches Kling's messages for content that failed review. */
const REVIEW_WORDS = /risk control|sensitive|violat|polic|moderation|prohibited|inappropriate|风控|敏感|违规|审核/i
const REVIEW_PREFIX = 'Failure to pass the risk control system:'

const FAILURE_PATH = ['task', 'failure']

/** Writes the failure reason of a task as a message. Clients recognise a content review by certain words. */
function writeFailure(failure: TaskFailure | undefined, losses: Losses): JsonObject {
  if (failure === undefined) {
    losses.add(FAILURE_PATH, { kind: 'broken', message: UNKNOWN_REASON }, 'no-reason')
    return {}
  }
  losses.dropFields(failure, FAILURE_PATH, { code: 'no-codes' })
  const text = textOf(failure)
  if (text === '') losses.change([...FAILURE_PATH, 'message'], UNKNOWN_REASON, 'no-reason')
  else if (text !== failure.message) losses.change([...FAILURE_PATH, 'message'], text, 'implied-by-its-words')
  if (failure.kind === 'broken' && REVIEW_WORDS.test(text))
    losses.change([...FAILURE_PATH, 'kind'], 'content-review', 'implied-by-its-words')
  return text === '' ? {} : { task_status_msg: text }
}

const textOf = ({ kind, message }: TaskFailure): string =>
  kind === 'content-review' && !REVIEW_WORDS.test(message) ? `${REVIEW_PREFIX} ${message}` : message
