import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { TaskFailure } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { writeError } from '../errors/openai-error.ts'
import { defined } from '../fields.ts'
import { STATES } from '../media/video-settings.ts'
import { ANSWERED_NO_TASK } from '../media/video-task.ts'
import type { Writer } from '../writer.ts'

/**
 * Writes a task with its state and, once there is a video, its URL (docs/wire/videos.md#generations). The duration is a
 * number, as in the request.
 *
 * @throws GatewayError `upstream-failed` if the answer is not a task.
 */
function writeResult(result: CanonicalResult): Written<WireAnswer> {
  const { id = '', model, createdAt, task } = result
  if (task === undefined) throw ANSWERED_NO_TASK
  const losses = new Losses(foreignLosses(result, 'generations'))
  const url = task.files?.find(({ variant }) => variant === 'video')?.url
  const body = {
    ...{ task_id: id, id, object: 'video.generation', status: STATES[task.state] },
    progress: task.progress ?? (task.state === 'completed' ? 100 : 0),
    ...defined({ model, created_at: createdAt, duration: task.seconds, size: task.size }),
    ...{ completed_at: task.completedAt ?? null, expires_at: task.expiresAt ?? null },
    error: task.failure === undefined ? null : writeFailure(task.failure),
    url: url ?? null,
    ...(url === undefined ? {} : { format: 'mp4' }),
  }
  return { wire: { status: 200, headers: {}, body: body as JsonObject }, losses: losses.list }
}

const writeFailure = ({ kind, code, message }: TaskFailure): JsonObject => ({
  code: kind === 'content-review' ? 'content_policy_violation' : (code ?? 'generation_failed'),
  message,
})

/** The writer for video tasks as a single JSON object (docs/wire/videos.md#generations). Not used for upstreams. */
export const generations: Writer = { result: writeResult, error: writeError }
