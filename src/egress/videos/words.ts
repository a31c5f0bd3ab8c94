import type { Json, JsonObject } from '../../canonical/node.ts'
import type { TaskFailure, TaskState } from '../../canonical/task.ts'

/** The states there are (FORMATS §11). */
const STATES: { readonly [state in TaskState]: string } = {
  queued: 'queued',
  'in-progress': 'in_progress',
  completed: 'completed',
  failed: 'failed',
}

export function writeStatus(state: TaskState, own: JsonObject): Json | undefined {
  const word = own['status'] ?? STATES[state]
  return word === 'absent' ? undefined : word
}

/** A number in a text; as its upstream wrote it where that is of this format. */
export const writeSeconds = (seconds: number, own: JsonObject): Json => own['seconds'] ?? String(seconds)

const REVIEW = /moderat|policy|safety|sentinel|content_filter|content_review|sensitive/i

/** The code of a failure: one that names its kind, or as it came where it is of this format. */
export function codeOf(failure: TaskFailure): string | undefined {
  const { kind, code } = failure
  if (code === undefined && failure.spelling?.['videos'] !== undefined) return undefined
  if (code !== undefined && REVIEW.test(code) === (kind === 'content-review')) return code
  return kind === 'content-review' ? 'content_policy_violation' : 'generation_failed'
}
