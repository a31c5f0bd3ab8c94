import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { StoredTask } from '../../store/tasks.ts'
import { inputKindOf, promptOf } from './submission.ts'

/**
 * Returns true if a request equals the one that created the task. For a remix, compares the prompt and the original.
 * For other tasks, compares the prompt, the model, the settings and the kind of input. Image bytes are not compared,
 * because they are not stored.
 */
export function isRepeated(task: StoredTask, request: CanonicalRequest): boolean {
  const { remixOf } = request.output.video ?? {}
  if (remixOf !== task.remixOf || promptOf(request) !== task.prompt) return false
  if (remixOf !== undefined) return true
  const isSame = request.model === task.model && inputKindOf(request) === task.from
  return isSame && isDeepStrictEqual(settingsOf(request.output), settingsOf(task.output))
}

/** Drops `spelling`, so that settings with the same meaning are equal. */
const settingsOf = (output: CanonicalRequest['output']): unknown =>
  JSON.parse(JSON.stringify(output, (name, value) => (name === 'spelling' ? undefined : value)))

/** Error for an idempotency key that was used for a different request. Not retryable, because it would fail again. */
export const KEY_REUSED = new GatewayError({
  kind: 'invalid-request',
  httpStatus: 422,
  message: 'This idempotency key was already used for a different request.',
  param: 'idempotency-key',
  code: 'idempotency_key_reused',
})
