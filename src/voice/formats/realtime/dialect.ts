import type { JsonObject } from '../../../canonical/node.ts'
import type { RealtimeFlags } from '../../../formats/dialects/realtime.ts'
import type { Layout } from './settings-writer.ts'
import type { Naming } from './wire.ts'

/** Deviations of an upstream from the format, according to the flags in the channel's `dialect`. */
export interface RealtimeDialect {
  /** `naming: beta`: the event names of the beta, which Azure Voice Live uses. */
  readonly naming: Naming
  /** `layout`: position of the fields in a session. `mixed` is xAI's layout. */
  readonly layout: Layout
  /** Flag `item_done`: true if the upstream sends an event when an item is complete. */
  readonly itemDone: boolean
}

export function readDialect(dialect: JsonObject): RealtimeDialect {
  const { naming, layout, item_done } = dialect as RealtimeFlags
  return {
    naming: naming === 'beta' ? 'beta' : 'ga',
    layout: layout === 'mixed' ? 'mixed' : layout === 'beta' || naming === 'beta' ? 'beta' : 'ga',
    itemDone: item_done !== false && naming !== 'beta',
  }
}

/**
 * Returns true if frames can be relayed unchanged between the upstream and callers of a generation. The beta has no
 * `item.done`.
 */
export const matchesGeneration = (generation: Naming, { naming, layout, itemDone }: RealtimeDialect): boolean =>
  naming === generation && layout === generation && (itemDone || generation === 'beta')
