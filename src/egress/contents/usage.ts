import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { FORMAT, nativeExtras, withExtras } from './fields.ts'

/**
 * Writes token counts as Google does: reasoning is counted separately from the answer, and the service tier is next to
 * the counts (docs/wire/contents.md#usage).
 */
export function writeUsage(
  usage: Usage | undefined,
  serviceTier: string | undefined,
  losses: Losses,
): JsonObject | undefined {
  const original = usage && unchangedWire<JsonObject>(usage, FORMAT)
  if (original !== undefined) return original
  const tier = writeTier(serviceTier, losses)
  if (usage === undefined) return tier
  reportLosses(usage, losses)
  const { input } = usage
  const reasoning = reasoningOf(usage)
  const output = usage.output ?? reasoning
  const answerTokens = usage.output === undefined ? undefined : usage.output - (reasoning ?? 0)
  return {
    ...withExtras(nativeExtras(usage), {
      promptTokenCount: input,
      cachedContentTokenCount: usage.cacheRead,
      candidatesTokenCount: answerTokens,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input === undefined || output === undefined ? undefined : input + output,
      promptTokensDetails: byModality(countsByModality(usage, 'inputBy', input, losses)),
      candidatesTokensDetails: byModality(countsByModality(usage, 'outputBy', answerTokens, losses)),
    }),
    ...tier,
  }
}

/** Returns the number of reasoning tokens, capped at the number of output tokens, which include them. */
const reasoningOf = ({ output, reasoning }: Usage): number | undefined =>
  reasoning === undefined || output === undefined ? reasoning : Math.min(output, reasoning)

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'output' | 'reasoning' | 'inputBy' | 'outputBy'> = {
  searches: 'no-count-of-searches',
  cacheWrite: 'no-count-of-cache-writes',
  hostedCalls: 'no-count-of-hosted-calls',
}

function reportLosses(usage: Usage, losses: Losses): void {
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  const reasoning = reasoningOf(usage)
  if (usage.output === undefined && reasoning !== undefined)
    losses.add(['usage', 'output'], reasoning, 'thoughts-are-output')
  if (usage.reasoning !== reasoning) losses.change(['usage', 'reasoning'], reasoning, 'thoughts-are-output')
  for (const field of ['inputBy', 'outputBy'] as const)
    if (usage[field]?.embedding !== undefined) losses.drop(['usage', field, 'embedding'], 'no-such-count')
}

/**
 * Returns the counts by modality in Google's form. Zero counts are omitted. If there is no text count, tokens of no
 * other modality are reported as text.
 *
 * @param total tokens of all modalities.
 */
function countsByModality(usage: Usage, field: 'inputBy' | 'outputBy', total: number | undefined, losses: Losses) {
  const counts = usage[field]
  if (counts === undefined) return undefined
  const nonZero: { [M in Modality]?: number } = {}
  let others = 0
  let isEmpty = true
  for (const [modality, count] of Object.entries(counts) as [Modality, number][]) {
    if (count === 0) continue
    nonZero[modality] = count
    others += count
    isEmpty = false
  }
  const text = counts.text === undefined && total !== undefined && total > others ? total - others : undefined
  if (isEmpty && text === undefined) {
    losses.dropRestored(['usage', field], 'no-entry-for-nothing')
    return undefined
  }
  for (const modality in counts)
    if (counts[modality as Modality] === 0) losses.dropRestored(['usage', field, modality], 'no-entry-for-nothing')
  if (text === undefined) return nonZero
  losses.addRestored(['usage', field, 'text'], text, 'rest-becomes-text')
  return { ...nonZero, text }
}

const MODALITIES: readonly Modality[] = ['text', 'image', 'audio', 'video']

/** Writes counts by modality as a list. Returns undefined if there are none. */
export function byModality(counts: Usage['inputBy']): readonly JsonObject[] | undefined {
  if (counts === undefined) return undefined
  const entries = MODALITIES.flatMap(modality => {
    const tokenCount = counts[modality]
    return tokenCount === undefined ? [] : [{ modality: modality.toUpperCase(), tokenCount }]
  })
  return entries.length === 0 ? undefined : entries
}

export const TIERS: { readonly [tier: string]: string } = { default: 'standard', flex: 'flex', priority: 'priority' }

function writeTier(tier: string | undefined, losses: Losses): JsonObject | undefined {
  if (tier === undefined) return undefined
  const readTier = tier === 'standard' ? 'default' : tier.toLowerCase()
  if (!Object.hasOwn(TIERS, readTier)) return losses.drop(['serviceTier'], 'no-such-tier')
  if (readTier !== tier) losses.change(['serviceTier'], readTier, 'tiers-have-one-spelling')
  return { serviceTier: TIERS[readTier]! }
}
