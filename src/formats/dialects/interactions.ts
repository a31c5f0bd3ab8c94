import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS, VOICE_FLAGS } from './shared-flags.ts'

/** Revision of the format in which answers have `steps` (docs/wire/interactions.md#revisions). */
export const INTERACTIONS_REVISION = '2026-05-20'

/** Dialect flags of upstreams with Google's Interactions API. */
export const FLAGS = {
  efforts: SHARED_FLAGS.efforts,
  /** If set, the gateway sends full histories instead of ids of stored interactions. */
  stateless: { values: 'boolean', default: false, meaning: 'stores no answers; the gateway stores all state' },
  result_media: SHARED_FLAGS.result_media,
  ...VOICE_FLAGS,
} as const satisfies Flags

export type InteractionsDialect = DialectOf<typeof FLAGS>

export const interactionsDialect = (dialect: JsonObject): InteractionsDialect => dialect as InteractionsDialect
