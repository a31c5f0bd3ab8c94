import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const NO_COUNTS = { hostedCalls: 'no-count-of-hosted-calls', inputBy: 'no-count-by-kind', outputBy: 'no-count-by-kind' }
const REQUIRED = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

/** Tokens with all their details; an upstream that did not count something counted none of it (trap 25). */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const own = spelt(usage, FORMAT)
  losses.dropFields(usage, ['usage'], NO_COUNTS)
  if (own['own'] !== undefined) return writeOwn(usage, own)
  for (const count of REQUIRED) if (usage[count] === undefined) losses.add(['usage', count], 0, 'count-required')
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: usage.total ?? input + output,
    ...kept(usage, FORMAT),
  }
}

function writeOwn(usage: Usage, own: JsonObject): JsonObject {
  const { input_tokens_details, output_tokens_details, ...others } = kept(usage, FORMAT)
  const { input = 0, output = 0 } = usage
  return defined({
    input_tokens: usage.input,
    input_tokens_details: details(
      { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
      input_tokens_details,
      own['input'] as JsonObject | undefined,
    ),
    output_tokens: usage.output,
    output_tokens_details: details(
      { reasoning_tokens: usage.reasoning },
      output_tokens_details,
      own['output'] as JsonObject | undefined,
    ),
    total_tokens: own['apart'] === true ? undefined : (usage.total ?? input + output),
    ...others,
  }) as JsonObject
}

/** Details as the upstream had them: where it had none, what stood there instead. */
function details(counts: object, extras: unknown, spelling: JsonObject | undefined): unknown {
  if (spelling === undefined) return extras
  const node = { extras: { [FORMAT]: (extras as JsonObject) ?? {} }, spelling: { [FORMAT]: spelling } }
  return { ...defined(counts), ...kept(node, FORMAT) }
}
