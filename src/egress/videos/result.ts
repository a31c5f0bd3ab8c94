import type { Losses, Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskFile } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, extrasFor } from '../fields.ts'
import { STATES } from '../media/video-settings.ts'
import { writeTaskAnswer } from '../media/video-task.ts'
import { FORMAT } from './request.ts'

const RESULT_LOSSES = { usage: 'no-usage', serviceTier: 'no-tiers', error: 'no-error-beside-a-task' }

/**
 * Writes a task in this format (docs/wire/videos.md#openai), with the additional fields `task_id` and `url`
 * (docs/wire/videos.md#gateways).
 *
 * @throws GatewayError `upstream-failed` if the answer is not a task.
 */
export const writeResult = (result: CanonicalResult): Written<WireAnswer> =>
  writeTaskAnswer(result, FORMAT, RESULT_LOSSES, (task, losses) => ({
    ...requiredTaskFields(result, task, losses),
    ...defined({ id: result.id ?? '', model: result.model, created_at: result.createdAt }),
    ...writeTask(task, losses),
  }))

/** Returns the fields that every task has. Unknown values are null. */
function requiredTaskFields(result: CanonicalResult, task: CanonicalTask, losses: Losses): JsonObject {
  const progress = task.state === 'completed' ? 100 : 0
  if (result.complete !== true) {
    if (task.progress === undefined) losses.add(['task', 'progress'], progress, 'progress-required')
    if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  }
  return {
    ...{ id: '', task_id: result.id ?? '', object: 'video', created_at: 0, model: '', status: '', progress },
    ...{ completed_at: null, expires_at: null, seconds: null, size: null, prompt: null },
    ...{ remixed_from_video_id: null, error: null, url: null },
  }
}

function writeTask(task: CanonicalTask, losses: Losses): JsonObject {
  const { failure, files, seconds } = task
  return defined({
    status: STATES[task.state],
    progress: task.progress,
    completed_at: task.completedAt,
    expires_at: task.expiresAt,
    seconds: seconds === undefined ? undefined : String(seconds),
    size: task.size,
    prompt: task.prompt,
    remixed_from_video_id: task.remixOf,
    error: failure === undefined ? undefined : writeFailure(failure, losses),
    url: files === undefined ? undefined : writeFiles(files, losses),
  }) as JsonObject
}

function writeFailure(failure: TaskFailure, losses: Losses): JsonObject {
  const code = codeOf(failure)
  const path = ['task', 'failure', 'code']
  if (failure.code === undefined) losses.add(path, code, 'a-word-for-the-kind')
  else if (code !== failure.code) losses.change(path, code, 'a-word-for-the-kind')
  return { code, message: failure.message, ...extrasFor(failure, FORMAT) }
}

/** Returns the URL of the video file. Other files are lost. */
function writeFiles(files: readonly TaskFile[], losses: Losses): string | undefined {
  const index = files.findIndex(({ variant, url }) => variant === 'video' && url !== undefined)
  for (const [fileIndex, file] of files.entries())
    if (fileIndex !== index) losses.drop(['task', 'files', fileIndex], 'one-address-only')
    else losses.dropFields(file, ['task', 'files', fileIndex], { mediaType: 'no-media-types' })
  if (index === -1) losses.drop(['task', 'files'], 'no-addresses')
  return files[index]?.url
}

const REVIEW_CODES = /moderat|policy|safety|sentinel|content_filter|content_review|sensitive/i

/** Returns the failure's own code if it fits the kind, otherwise the format's code for the kind. */
function codeOf({ kind, code }: TaskFailure): string {
  if (code !== undefined && REVIEW_CODES.test(code) === (kind === 'content-review')) return code
  return kind === 'content-review' ? 'content_policy_violation' : 'generation_failed'
}
