import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** The quirks of speech upstreams; flags that are not declared follow the public format. */
export interface SpeechDialect extends VoiceDialect {
  /**
   * Streams events (`stream_format: sse`). Default true; otherwise the gateway makes them of the bytes as they come.
   */
  readonly speech_events?: boolean
}

export const FLAGS = ['voices', 'default_voice', 'speech_events'] as const

export const speechDialect = (dialect: Dialect): SpeechDialect => dialect as SpeechDialect
