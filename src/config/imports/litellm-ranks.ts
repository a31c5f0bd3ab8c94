import { grouped } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { objectOf } from './draft.ts'
import { amountOf } from './litellm-settings.ts'

/*
 * Order and shares of LiteLLM's entries with one name (`get_order_filtered_deployments` and `simple_shuffle` of its
 * version 1.108.7, read on 2026-11-30).
 */

/** Parameters and information of an entry, by its name. */
export interface NamedEntry {
  readonly name: string
  readonly params: JsonObject
  readonly info: JsonObject
}

/** Priority and weight that an entry has because of the other entries of its name. */
export interface Rank {
  readonly priority?: number
  readonly weight?: number
}

/** Returns the order of an entry, of which LiteLLM tries the lowest first. */
export const orderOf = (params: JsonObject, info: JsonObject): number | undefined =>
  amountOf(params['order'] ?? info['order'])

/** Parameters that state an entry's share of the requests. The first one that any of the entries has decides. */
const SHARES = ['weight', 'rpm', 'tpm'] as const

/** Returns the ranks of all entries, in their order. */
export function ranksOf(entries: readonly NamedEntry[], config: JsonObject): ReadonlyMap<NamedEntry, Rank> {
  const isShuffled = [undefined, 'simple-shuffle'].includes(
    objectOf(config['router_settings'])['routing_strategy'] as string | undefined,
  )
  const ranks = new Map<NamedEntry, Rank>()
  for (const [, namesakes] of grouped(entries, ({ name }) => name)) {
    const last = Math.max(...namesakes.map(({ params, info }) => orderOf(params, info) ?? Number.NEGATIVE_INFINITY))
    const byPriority = grouped(namesakes, ({ params, info }) => orderOf(params, info) ?? last + 1)
    for (const [priority, equals] of byPriority) {
      const weights = isShuffled ? weightsOf(equals) : undefined
      for (const [index, entry] of equals.entries())
        ranks.set(
          entry,
          defined({ priority: Number.isFinite(priority) ? priority : undefined, weight: weights?.[index] }),
        )
    }
  }
  return ranks
}

/** Returns the weights of entries of one order, or undefined if they have equal shares. */
function weightsOf(entries: readonly NamedEntry[]): readonly number[] | undefined {
  for (const share of SHARES) {
    const weights = entries.map(({ params }) => amountOf(params[share]) ?? 0)
    if (weights.some(weight => weight > 0)) return new Set(weights).size === 1 ? undefined : weights
  }
  return undefined
}
