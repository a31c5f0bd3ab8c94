import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { VOICES } from './shared-flags.ts'

/** The dialect flags of ElevenLabs. */
export const FLAGS = {
  ...VOICES,
} as const satisfies Flags

export type ElevenLabsDialect = DialectOf<typeof FLAGS>

export const elevenLabsDialect = (dialect: JsonObject): ElevenLabsDialect => dialect as ElevenLabsDialect
