import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { MessagesDialect } from './dialect.ts'

export const FORMAT = 'messages'

/** What writing a request needs to know, and the cache markers set so far. */
export interface WriteContext {
  readonly dialect: MessagesDialect
  readonly native: boolean
  readonly losses: Losses
  readonly markers: Marker[]
}

/** A block on its way; fresh, so that it may still lose a marker. */
export type Block = { [field: string]: Json }

/** A cache marker that was set: where, and what it marks. */
export interface Marker {
  readonly block: Block
  readonly path: Path
}

/** The tools that are offered, and the choice among them as far as names go. */
export interface Tools {
  readonly wire: readonly JsonObject[]
  readonly names: ReadonlySet<string>
  /** The caller lets none of its tools be called. */
  readonly none: boolean
  /** The last of them, where it can be marked. */
  readonly last?: Marker | undefined
}
