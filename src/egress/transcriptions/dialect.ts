import type { Dialect } from '../writer.ts'

/** The quirks of upstreams that take recordings as OpenAI does. */
export interface TranscriptionsDialect {
  /**
   * Which shapes of answer the upstream knows: `all`; `json` has no subtitles and tells no speakers, so that subtitles
   * are made of its segments; `none` answers in JSON only and is asked for times and speakers by fields of their own.
   */
  readonly transcript_shapes?: 'all' | 'json' | 'none'
}

export const FLAGS = ['transcript_shapes'] as const

export const transcriptionsDialect = (dialect: Dialect): TranscriptionsDialect => dialect as TranscriptionsDialect
