import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS, VOICE_FLAGS } from './shared-flags.ts'

/** Dialect flags of Live API upstreams. */
export const FLAGS = {
  vertex: SHARED_FLAGS.vertex,
  version: SHARED_FLAGS.version,
  ...VOICE_FLAGS,
  resumption: {
    values: 'boolean',
    default: true,
    meaning:
      'resumes sessions on a new connection, so that they can outlive the time limit of one connection; default: true',
  },
  audio_only: {
    values: 'boolean',
    meaning:
      'the model only speaks: a caller that requests text gets the transcript; default: true for `native-audio` models and `gemini-3`',
  },
  late_text: {
    values: ['content', 'realtime'],
    meaning:
      "how text is sent after the model's first answer: as `clientContent` (default), or as `realtimeInput` (default for `gemini-3` before 3.8)",
  },
} as const satisfies Flags

export type LiveFlags = DialectOf<typeof FLAGS>
