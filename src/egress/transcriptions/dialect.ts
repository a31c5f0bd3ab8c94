import type { Dialect } from '../writer.ts'

/** The quirks of upstreams that transcribe in OpenAI's format. */
export interface TranscriptionsDialect {
  /**
   * The response formats that the upstream supports: `all`; `json` without subtitles and speakers, so that subtitles
   * are made of its segments; `none` for JSON only, with separate fields for times and speakers.
   */
  readonly transcript_shapes?: 'all' | 'json' | 'none'
}

export const FLAGS = ['transcript_shapes'] as const

export const transcriptionsDialect = (dialect: Dialect): TranscriptionsDialect => dialect as TranscriptionsDialect
