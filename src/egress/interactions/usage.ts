import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './context.ts'

const USAGE_LOSSES: Unwritten<
  Usage,
  'input' | 'cacheRead' | 'output' | 'reasoning' | 'inputBy' | 'outputBy' | 'searches'
> = { cacheWrite: 'no-count-of-cache-writes', hostedCalls: 'no-count-of-hosted-calls' }

/** Writes usage, with reasoning counted separately from the answer (docs/wire/interactions.md#usage). */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const native = unchangedWire<JsonObject>(usage, FORMAT)
  if (native !== undefined) return native
  const reasoning = reasoningOf(usage)
  reportLosses(usage, reasoning, losses)
  const { input, cacheRead, searches } = usage
  const output = usage.output ?? reasoning
  return {
    ...(defined({
      total_tokens: input === undefined || output === undefined ? undefined : input + output,
      total_input_tokens: input,
      input_tokens_by_modality: byModality(usage.inputBy),
      total_cached_tokens: cacheRead,
      total_output_tokens: usage.output === undefined ? undefined : usage.output - (reasoning ?? 0),
      output_tokens_by_modality: byModality(usage.outputBy),
      total_thought_tokens: reasoning,
      grounding_tool_count: searches === undefined ? undefined : [{ type: 'google_search', count: searches }],
    }) as JsonObject),
    ...extrasFor(usage, FORMAT),
  }
}

/** Returns the number of reasoning tokens, capped at the number of output tokens, which include them. */
const reasoningOf = ({ output, reasoning }: Usage): number | undefined =>
  reasoning === undefined || output === undefined ? reasoning : Math.min(output, reasoning)

function reportLosses(usage: Usage, reasoning: number | undefined, losses: Losses): void {
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  if (usage.output === undefined && reasoning !== undefined)
    losses.add(['usage', 'output'], reasoning, 'thoughts-are-output')
  if (usage.reasoning !== reasoning) losses.change(['usage', 'reasoning'], reasoning, 'thoughts-are-output')
  for (const field of ['inputBy', 'outputBy'] as const)
    if (usage[field]?.embedding !== undefined) losses.drop(['usage', field, 'embedding'], 'no-such-count')
}

const MODALITIES: readonly Modality[] = ['text', 'image', 'audio', 'video']

/** Writes counts by modality as a list. Returns undefined if there are none. */
function byModality(counts: Usage['inputBy']): Json | undefined {
  const entries = MODALITIES.flatMap(modality => {
    const tokens = counts?.[modality]
    return tokens === undefined ? [] : [{ modality, tokens }]
  })
  return entries.length === 0 ? undefined : entries
}
