import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { nativeBodyOf, OPTIONAL_HEAD } from '../native.ts'

/** Error for an upstream answer that is not a task. */
export const ANSWERED_NO_TASK = new GatewayError(upstreamFailed('The upstream answered without a task.'))

/**
 * Writes a task as an answer. An answer received in this format is unchanged; any other is written with `write`.
 *
 * @param lost the loss reason of each field that the format's answers lack.
 * @throws GatewayError `upstream-failed` if the answer is not a task.
 */
export function writeTaskAnswer(
  result: CanonicalResult,
  format: Format,
  lost: { readonly [field: string]: string },
  write: (task: CanonicalTask, losses: Losses) => JsonObject,
): Written<WireAnswer> {
  const { task } = result
  if (task === undefined) throw ANSWERED_NO_TASK
  const nativeBody = nativeBodyOf(result, format, OPTIONAL_HEAD)
  if (nativeBody !== undefined) return { wire: { status: 200, headers: {}, body: nativeBody }, losses: [] }
  const losses = new Losses(foreignLosses(result, format))
  losses.dropFields(result, [], lost)
  for (const index of result.candidates.keys()) losses.drop(['candidates', index], 'tasks-only')
  const body = mergedFields(extrasFor(result, format), write(task, losses), result)
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/**
 * Merges the fields with the upstream's extras. The fields take precedence in answers that the gateway created itself,
 * otherwise the extras do.
 */
export const mergedFields = (extras: JsonObject, fields: JsonObject, { complete }: CanonicalResult): JsonObject =>
  complete === true ? { ...extras, ...fields } : { ...fields, ...extras }
