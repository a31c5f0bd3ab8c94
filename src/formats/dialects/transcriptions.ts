import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'

/** Dialect flags of transcription upstreams with OpenAI's format. */
export const FLAGS = {
  transcript_shapes: {
    values: ['all', 'json', 'none'],
    default: 'all',
    meaning: 'the supported response formats: `all`; `json`, without subtitles and speakers; `none`, JSON only',
  },
  transcript_fields: {
    values: ['any', 'groq', 'mistral'],
    default: 'any',
    meaning:
      'the fields of the form: `any` (default), or those of one vendor, which refuses or ignores all others; `groq`: lists have brackets',
  },
  transcript_events: {
    values: 'boolean',
    default: true,
    meaning:
      'streams events; default: true; if false, the whole answer is requested, and the gateway makes events of it',
  },
} as const satisfies Flags

export type TranscriptionsDialect = DialectOf<typeof FLAGS>

export const transcriptionsDialect = (dialect: JsonObject): TranscriptionsDialect => dialect as TranscriptionsDialect
