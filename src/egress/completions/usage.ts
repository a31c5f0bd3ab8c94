import type { Losses, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, spelt } from '../fields.ts'
import { FORMAT } from './prompt.ts'

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning'> = {
  searches: 'no-count-of-searches',
  inputBy: 'no-counts-by-modality',
  outputBy: 'no-counts-by-modality',
  hostedCalls: 'no-count-of-hosted-calls',
}

/** Tokens as completions count them; both counts are required, so an unknown one becomes zero. */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const whole = spelt(usage, FORMAT)['whole']
  if (whole !== undefined) return whole as JsonObject
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  if (usage.input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  if (usage.output === undefined) losses.add(['usage', 'output'], 0, 'count-required')
  const input = usage.input ?? 0
  const output = usage.output ?? 0
  return defined({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: details({ cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite }),
    completion_tokens_details: details({ reasoning_tokens: usage.reasoning }),
  }) as JsonObject
}

function details(counts: object): object | undefined {
  const fields = defined(counts)
  return Object.keys(fields).length === 0 ? undefined : fields
}
