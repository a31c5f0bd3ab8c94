import type { Caller } from '../accounts/index.ts'
import { forbidden } from '../canonical/error.ts'
import type { Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import type { BilledFacts } from '../upstreams/catalogue/billed-facts.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'

const TEXT_USAGE: Usage = { input: 1, output: 1 }
/**
 * Minimum usage that is billed for each kind of work, in each way in which upstreams count it. Work without an entry has
 * no price per token, so its cost is always unknown.
 */
const MINIMUM_USAGE: { readonly [W in Work]?: readonly Usage[] } = {
  conversation: [TEXT_USAGE],
  completion: [TEXT_USAGE],
  compaction: [TEXT_USAGE],
  embedding: [{ input: 1 }],
  ranking: [{ searches: 1 }, { input: 1 }],
  image: [{ input: 1, output: 1, outputBy: { image: 1 } }],
  speech: [{ input: 1, output: 1, outputBy: { audio: 1 } }],
  transcription: [{ input: 1, inputBy: { audio: 1 }, output: 1 }],
  video: [{}],
  realtime: [{ input: 1, inputBy: { audio: 1 }, output: 1, outputBy: { audio: 1 } }],
}

/** Further facts about a minimum answer, which may have a price instead of its tokens. */
const MINIMUM_FACTS: { readonly [W in Work]?: BilledFacts } = {
  image: { images: 1 },
  speech: { characters: 1 },
  transcription: { seconds: 1 },
  realtime: { seconds: 1, sessionSeconds: 1 },
  video: { videoSeconds: 1 },
}

/**
 * Drops targets whose price for the work is unknown, if the key's budget requires it (`budget.unknown: refuse`).
 * Counting tokens is free.
 *
 * @throws GatewayError `forbidden` if no target remains.
 */
export function pricedTargets(
  targets: readonly Target[],
  { model, work, caller, prices }: { model: string; work: Work; caller: Caller; prices: Prices | undefined },
): readonly Target[] {
  if (caller.permissions.limits.budget?.unknown !== 'refuse' || work === 'count' || prices === undefined) return targets
  const usages = MINIMUM_USAGE[work] ?? []
  const priced = targets.filter(({ channel, upstreamModel }) => {
    const account = { model, upstreamModel, provider: channel.provider }
    return usages.some(usage => prices.cost(account, usage, MINIMUM_FACTS[work]) !== undefined)
  })
  if (priced.length === 0 && targets.length > 0) throw PRICE_REQUIRED
  return priced
}

/** Error code for a model that a budget refuses because its price is unknown. */
export const PRICE_UNKNOWN = 'price_unknown'

const PRICE_REQUIRED = forbidden("This key's budget admits no model whose price is unknown.", 'model', PRICE_UNKNOWN)
