import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** Dialect flags of speech upstreams; without a flag the upstream follows the public format. */
export interface SpeechDialect extends VoiceDialect {
  /**
   * Whether the upstream streams events (`stream_format: sse`). Default true; otherwise the gateway makes events of the
   * bytes as they arrive.
   */
  readonly speech_events?: boolean
}

export const FLAGS = ['voices', 'default_voice', 'speech_events'] as const

export const speechDialect = (dialect: Dialect): SpeechDialect => dialect as SpeechDialect
