import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** Dialect flags of ElevenLabs, which are the voice settings of a channel. */
export type ElevenLabsDialect = VoiceDialect

export const FLAGS = ['voices', 'default_voice'] as const

export const elevenLabsDialect = (dialect: Dialect): ElevenLabsDialect => dialect as ElevenLabsDialect
