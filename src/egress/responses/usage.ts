import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './content.ts'

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning'> = {
  searches: 'no-count-of-searches',
  hostedCalls: 'no-count-of-hosted-calls',
  inputBy: 'no-count-by-kind',
  outputBy: 'no-count-by-kind',
}
const REQUIRED_COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

/** Writes token counts with all details. Unknown counts are zero (trap 25). */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const original = wireSourceOf<JsonObject>(usage, FORMAT)?.wire
  if (original !== undefined) return original
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  for (const count of REQUIRED_COUNTS) if (usage[count] === undefined) losses.add(['usage', count], 0, 'count-required')
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
    ...extrasFor(usage, FORMAT),
  }
}
