import type { DialectOf, Flags } from './flag.ts'
import { SHARED, VOICES } from './shared-flags.ts'

/** Dialect flags of Live API upstreams. */
export const FLAGS = {
  vertex: SHARED.vertex,
  version: SHARED.version,
  ...VOICES,
  resumption: {
    values: 'boolean',
    default: true,
    meaning:
      'resumes sessions on a new connection, so that they can outlive the time limit of one connection; true by default',
  },
  audio_only: {
    values: 'boolean',
    meaning:
      'the model only speaks: a caller that requests text gets the transcript; true by default for `native-audio` models and `gemini-3`',
  },
  late_text: {
    values: ['content', 'realtime'],
    meaning:
      "how text is sent after the model's first answer: as `clientContent` (default), or as `realtimeInput` (default for `gemini-3`)",
  },
} as const satisfies Flags

export type LiveFlags = DialectOf<typeof FLAGS>
