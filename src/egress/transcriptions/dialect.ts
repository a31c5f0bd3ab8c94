import type { Dialect } from '../writer.ts'

/** Dialect flags of upstreams that transcribe in OpenAI's format. */
export interface TranscriptionsDialect {
  /**
   * The response formats that the upstream supports: `all`; `json`, where the gateway makes subtitles from segments and
   * speakers are lost; `none`, where the answer is always JSON and times and speakers are fields of their own.
   */
  readonly transcript_shapes?: 'all' | 'json' | 'none'
}

export const FLAGS = ['transcript_shapes'] as const

export const transcriptionsDialect = (dialect: Dialect): TranscriptionsDialect => dialect as TranscriptionsDialect
