import type { Format, JsonObject } from '../canonical/node.ts'
import type { PresetFormat } from './preset.ts'

/** Dialect flags that most vendors of a format need: usage in every stream, for the usage log and limits (trap 22). */
const DEFAULT_DIALECTS: { readonly [format: Format]: JsonObject } = { completions: { include_usage: true } }

/** Returns preset rows for several of OpenAI's formats at one base URL. */
export const openaiFormats = (baseUrl: string, formats: readonly Format[]): PresetFormat[] =>
  formats.map(format => ({
    format,
    baseUrl,
    ...(DEFAULT_DIALECTS[format] === undefined ? {} : { dialect: DEFAULT_DIALECTS[format] }),
  }))
