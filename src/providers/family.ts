import type { Format } from '../canonical/node.ts'
import type { PresetFormat } from './preset.ts'

/** Formats of OpenAI's family below one address. */
export const family = (baseUrl: string, formats: readonly Format[]): PresetFormat[] =>
  formats.map(format => ({ format, baseUrl }))
