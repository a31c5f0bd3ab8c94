import type { Dialect } from '../writer.ts'

/** The quirks of text-completions upstreams; what is not declared follows the public format. */
export interface CompletionsDialect {
  /** Ask for usage in every stream, wanted by the caller or not (trap 22). */
  readonly include_usage?: boolean
}

export const FLAGS = ['include_usage'] as const

export const completionsDialect = (dialect: Dialect): CompletionsDialect => dialect as CompletionsDialect
