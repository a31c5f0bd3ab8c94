import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { TaskFailure, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'

const STATES: { readonly [state in TaskState]: string } = {
  queued: 'queued',
  'in-progress': 'in_progress',
  completed: 'completed',
  failed: 'failed',
}

/**
 * A task with its state, and where its video is once there is one (SERVICE.md, "Video task"); the length is a number,
 * as in the request.
 *
 * @throws GatewayError `upstream-failed` for an answer that is no task.
 */
export function writeResult(result: CanonicalResult): Written<WireAnswer> {
  const { id = '', model, createdAt, task } = result
  if (task === undefined) throw NO_TASK
  const losses = new Losses()
  losses.report(foreign(result, 'generations'))
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

const NO_TASK = new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered without a task.' })

const writeFailure = ({ kind, code, message }: TaskFailure): JsonObject => ({
  code: kind === 'content-review' ? 'content_policy_violation' : (code ?? 'generation_failed'),
  message,
})
