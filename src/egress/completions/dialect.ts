import type { Dialect } from '../writer.ts'

/** The quirks of text-completions upstreams; flags that are not declared follow the public format. */
export interface CompletionsDialect {
  /** Request usage in every stream, whether or not the caller wants it (trap 22). */
  readonly include_usage?: boolean
}

export const FLAGS = ['include_usage'] as const

export const completionsDialect = (dialect: Dialect): CompletionsDialect => dialect as CompletionsDialect
