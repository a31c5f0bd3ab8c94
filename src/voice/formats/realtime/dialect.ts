import type { JsonObject } from '../../../canonical/node.ts'
import type { Layout } from './settings-writer.ts'
import type { Naming } from './wire.ts'

/** How an upstream's version of the format differs; the flags of a channel's `dialect`. */
export interface RealtimeDialect {
  /** `naming: beta`: event names before general availability (Azure Voice Live). */
  readonly naming: Naming
  /** `layout`: where a session's fields stand, `mixed` for xAI. */
  readonly layout: Layout
  /** `item_done: false`: no event reports that an item is complete. */
  readonly itemDone: boolean
}

export const readDialect = ({ naming, layout, item_done }: JsonObject): RealtimeDialect => ({
  naming: naming === 'beta' ? 'beta' : 'ga',
  layout: layout === 'mixed' ? 'mixed' : layout === 'beta' || naming === 'beta' ? 'beta' : 'ga',
  itemDone: item_done !== false && naming !== 'beta',
})

/** Whether callers of a generation can be connected to the upstream frame by frame; the beta has no `item.done`. */
export const isOf = (generation: Naming, { naming, layout, itemDone }: RealtimeDialect): boolean =>
  naming === generation && layout === generation && (itemDone || generation === 'beta')
