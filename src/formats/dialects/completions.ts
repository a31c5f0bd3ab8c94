import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS } from './shared-flags.ts'

/** Dialect flags of text completions upstreams. */
export const FLAGS = {
  include_usage: SHARED_FLAGS.include_usage,
} as const satisfies Flags

export type CompletionsDialect = DialectOf<typeof FLAGS>

export const completionsDialect = (dialect: JsonObject): CompletionsDialect => dialect as CompletionsDialect
