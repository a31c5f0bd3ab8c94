import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** The quirks of generateContent upstreams; what is not declared follows Google's own Gemini API. */
export interface ContentsDialect extends VoiceDialect {
  /** Google's cloud surface: no ids of calls (trap 57), labels, display names and domains to leave out. */
  readonly vertex?: boolean
  /** How schemas are written: as JSON Schema (default), or in the older OpenAPI subset (trap 55). */
  readonly schema?: 'json' | 'openapi'
  /** It takes no addresses of others' files: the gateway fetches them (trap 50). */
  readonly fetch_urls?: boolean
}

export const FLAGS = ['vertex', 'schema', 'fetch_urls', 'voices', 'default_voice'] as const

export const contentsDialect = (dialect: Dialect): ContentsDialect => dialect as ContentsDialect
