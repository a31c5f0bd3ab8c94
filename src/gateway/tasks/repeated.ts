import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { StoredTask } from '../../store/tasks.ts'
import { madeFrom, promptOf } from './submission.ts'

/**
 * Whether a request is the one that a task was made by, as far as the task has it: prompt, settings, what it is made from
 * and, of a remix, the original. Bytes of pictures are not kept and not compared.
 */
export function isRepeated(task: StoredTask, request: CanonicalRequest): boolean {
  const { remixOf } = request.output.video ?? {}
  if (remixOf !== task.remixOf || promptOf(request) !== task.prompt) return false
  if (remixOf !== undefined) return true
  const isSame = request.model === task.model && madeFrom(request) === task.from
  return isSame && isDeepStrictEqual(settingsOf(request.output), settingsOf(task.output))
}

/** Settings by what they mean, not by how an endpoint spells them. */
const settingsOf = (output: CanonicalRequest['output']): unknown =>
  JSON.parse(JSON.stringify(output, (name, value) => (name === 'spelling' ? undefined : value)))

/** The failure of a request under the key of another: a client that repeats it would repeat it in vain. */
export const REUSED = new GatewayError({
  kind: 'invalid-request',
  httpStatus: 422,
  message: 'This idempotency key was used for another request.',
  param: 'idempotency-key',
  code: 'idempotency_key_reused',
})
