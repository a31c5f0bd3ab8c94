import { type Format, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, extrasOf } from '../fields.ts'
import { anyCount } from './counts.ts'

const COUNTS = new Set(['prompt_tokens', 'total_tokens'])

/** Reads the usage of an answer with only prompt tokens, such as an embedding. */
export function readInputUsage(format: Format, wire: JsonObject): Usage {
  const unreadFields = [...COUNTS].filter(field => anyCount(wire[field]) === undefined)
  return withWireSource(
    { ...defined({ input: inputTokens(wire) }), ...extrasOf(format, wire, COUNTS, unreadFields) },
    format,
    wire,
  )
}

/**
 * Returns the larger of the prompt count and the total. Some vendors report only the total, others a total above the
 * prompt count.
 */
function inputTokens({ prompt_tokens, total_tokens }: JsonObject): number | undefined {
  const counts = [anyCount(prompt_tokens), anyCount(total_tokens)].filter(count => count !== undefined)
  return counts.length === 0 ? undefined : Math.max(...counts)
}
