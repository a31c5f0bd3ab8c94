import type { Dialect } from '../writer.ts'

/** The dialect flags of text-completions upstreams; a flag that is not declared follows the public format. */
export interface CompletionsDialect {
  /** Requests usage in every stream, even if the caller does not want it (trap 22). */
  readonly include_usage?: boolean
}

export const FLAGS = ['include_usage'] as const

export const completionsDialect = (dialect: Dialect): CompletionsDialect => dialect as CompletionsDialect
