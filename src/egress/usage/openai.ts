import type { Losses, Unwritten } from '../../canonical/loss.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, definedIfAny, extrasFor } from '../fields.ts'

const USAGE_LOSSES: Unwritten<
  Usage,
  'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning' | 'inputBy' | 'outputBy'
> = { hostedCalls: 'no-count-of-hosted-calls', searches: 'no-count-of-searches' }

/**
 * Writes the token counts of chat completions and text completions. Input and output are required, so unknown counts
 * become zero.
 */
export function writeUsage(format: Format, usage: Usage, losses: Losses): JsonObject {
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  if (usage.input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  if (usage.output === undefined) losses.add(['usage', 'output'], 0, 'count-required')
  if (usage.inputBy?.embedding !== undefined) losses.drop(['usage', 'inputBy', 'embedding'], 'no-such-count')
  if (usage.outputBy?.embedding !== undefined) losses.drop(['usage', 'outputBy', 'embedding'], 'no-such-count')
  const input = usage.input ?? 0
  const output = usage.output ?? 0
  const { prompt_tokens_details, completion_tokens_details, ...others } = extrasFor(usage, format)
  const promptCounts = {
    cached_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    ...byModality(usage.inputBy),
  }
  const completionCounts = { reasoning_tokens: usage.reasoning, ...byModality(usage.outputBy) }
  return defined({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: details(promptCounts, prompt_tokens_details as JsonObject | undefined),
    completion_tokens_details: details(completionCounts, completion_tokens_details as JsonObject | undefined),
    ...others,
  }) as JsonObject
}

const details = (counts: object, extras: JsonObject | undefined): JsonObject | undefined =>
  definedIfAny({ ...counts, ...extras })

const byModality = (counts: { readonly [M in Modality]?: number } | undefined) => ({
  text_tokens: counts?.text,
  audio_tokens: counts?.audio,
  image_tokens: counts?.image,
  video_tokens: counts?.video,
})
