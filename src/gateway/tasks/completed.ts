import { conflict } from '../../canonical/error.ts'
import type { StoredTask } from '../../store/tasks.ts'

/**
 * Checks that the content of a task can be sent.
 *
 * @throws GatewayError `conflict` with the state of an unfinished task, or the reason why a task failed.
 */
export function checkCompleted({ state, result }: StoredTask): void {
  if (state === 'completed') return
  const { failure } = result.task ?? {}
  if (state === 'failed')
    throw conflict(`The video failed: ${failure?.message || 'the upstream gave no reason'}`, undefined, 'video_failed')
  const name = state === 'in-progress' ? 'in_progress' : 'queued'
  throw conflict(`The video is not finished: its status is \`${name}\`.`, undefined, 'video_not_ready')
}
