import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** The dialect flags of generateContent upstreams; a flag that is not declared follows Google's own Gemini API. */
export interface ContentsDialect extends VoiceDialect {
  /**
   * Whether the upstream is Google's cloud API: no call ids (trap 57), but labels, display names and excluded domains.
   */
  readonly vertex?: boolean
  /** How schemas are written: as JSON Schema (default), or in the older OpenAPI subset (trap 55). */
  readonly schema?: 'json' | 'openapi'
  /** Whether the gateway must fetch URLs of other hosts, because the upstream takes none (trap 50). */
  readonly fetch_urls?: boolean
}

export const FLAGS = ['vertex', 'schema', 'fetch_urls', 'voices', 'default_voice'] as const

export const contentsDialect = (dialect: Dialect): ContentsDialect => dialect as ContentsDialect
