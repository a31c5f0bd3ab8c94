import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { paidElsewhere } from './stated-cost.ts'

/** A step of an answer that its upstream bills in addition to the usage of the answer. */
export interface BilledIteration {
  /** Name of the model, if it is not that of the answer. */
  readonly upstreamModel: string | undefined
  readonly usage: Usage
}

/**
 * Types of iterations that the counts of an answer leave out: summaries of a long conversation, and advice of a larger
 * model (docs/wire/messages.md#usage).
 */
const TYPES: ReadonlySet<Json | undefined> = new Set(['compaction', 'advisor_message'])

/** Returns the steps of an answer that its counts leave out. */
export function billedIterations({ extras }: Usage): readonly BilledIteration[] {
  for (const format in extras) {
    const { [format]: wire } = extras
    const iterations = wire?.['iterations']
    if (wire !== undefined && Array.isArray(iterations))
      return iterations.filter(isObject).flatMap(one => (TYPES.has(one['type']) ? iterationOf(one, format, wire) : []))
  }
  return NONE
}

const NONE: readonly BilledIteration[] = []

/** Reads one step. Its tier and location are those of the answer, and a cost that the answer states includes it. */
function iterationOf(wire: JsonObject, format: string, { iterations: _, ...others }: JsonObject): BilledIteration {
  const [cacheRead, cacheWrite] = [
    countOf(wire, 'cache_read_input_tokens'),
    countOf(wire, 'cache_creation_input_tokens'),
  ]
  const { model } = wire
  const usage = {
    input: countOf(wire, 'input_tokens') + cacheRead + cacheWrite,
    ...{ output: countOf(wire, 'output_tokens'), cacheRead, cacheWrite },
    extras: { [format]: { ...paidElsewhere(others), cache_creation: wire['cache_creation'] ?? null } },
  }
  return { upstreamModel: typeof model === 'string' ? model : undefined, usage }
}

function countOf(wire: JsonObject, field: string): number {
  const count = wire[field]
  return typeof count === 'number' && count > 0 ? count : 0
}
