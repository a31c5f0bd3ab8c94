import type { JsonObject } from '../../canonical/node.ts'
import { originOf } from '../../canonical/origin.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { FORMAT } from './context.ts'

/**
 * The answer of an upstream of this format as it came, under the id and model that it has for its caller, and with
 * extras as its caller may see them; undefined of any other answer.
 */
export function ownBody(result: CanonicalResult): JsonObject | undefined {
  const origin = originOf<JsonObject, CanonicalResult>(result, FORMAT)
  if (origin === undefined) return undefined
  const { node, wire } = origin
  const { id, model, candidates, usage, extras, error } = result
  const isOwn =
    usage === node.usage && error === node.error && candidates.every((one, at) => one === node.candidates[at])
  if (!isOwn) return undefined
  if (id === node.id && model === node.model && extras === node.extras) return wire
  return {
    ...wire,
    ...(id === node.id ? {} : { id: id! }),
    ...(model === node.model ? {} : { model: model! }),
    ...(extras === node.extras ? {} : extras?.[FORMAT]),
  }
}
