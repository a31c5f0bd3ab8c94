import type { VoiceDialect } from '../media/voices.ts'
import type { Dialect } from '../writer.ts'

/** The voices that callers' names stand for. */
export type ElevenLabsDialect = VoiceDialect

export const FLAGS = ['voices', 'default_voice'] as const

export const elevenLabsDialect = (dialect: Dialect): ElevenLabsDialect => dialect as ElevenLabsDialect
