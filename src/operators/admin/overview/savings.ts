import type { UsageGroup } from '../../../store/usage-records.ts'
import { upstreamNameOf } from '../../../upstreams/upstream-names.ts'
import type { Administration } from '../administration.ts'

/** Number of prompt tokens whose price is compared, so small that no tier for long prompts applies. */
const SAMPLE_TOKENS = 1000

/**
 * Returns the nanodollars that caches saved: the difference between the prompts' cost and their cost without caches.
 * Leaves out models without a price. Returns undefined if no model has one.
 */
export function savedBy({ config, prices }: Administration, groups: readonly UsageGroup[]): number | undefined {
  const channels = new Map(config.channels.map(channel => [channel.name, channel]))
  let saved: number | undefined
  for (const { by, input, cacheRead, cacheWrite } of groups) {
    const channel = channels.get(by.channel ?? '')
    if (channel === undefined || by.model === undefined || input === 0 || cacheRead === 0) continue
    const priced = {
      model: by.model,
      upstreamModel: upstreamNameOf(channel.models, by.model) ?? by.model,
      provider: channel.provider,
    }
    const share = (tokens: number): number => Math.min(SAMPLE_TOKENS, (tokens / input) * SAMPLE_TOKENS)
    const uncached = prices.cost(priced, { input: SAMPLE_TOKENS })
    const cached = prices.cost(priced, {
      ...{ input: SAMPLE_TOKENS, cacheRead: share(cacheRead), cacheWrite: share(cacheWrite) },
    })
    if (uncached === undefined || cached === undefined) continue
    saved = (saved ?? 0) + ((uncached - cached) * input) / SAMPLE_TOKENS
  }
  return saved
}
