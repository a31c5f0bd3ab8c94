import type { Format, JsonObject } from '../canonical/node.ts'
import type { PresetFormat } from './preset.ts'

/**
 * Dialect flags that most vendors of a format need: usage in every stream, for the usage log and the limits (trap 22).
 */
const USUAL: { readonly [format: Format]: JsonObject } = { completions: { include_usage: true } }

/** The preset rows of several OpenAI formats at one base URL. */
export const family = (baseUrl: string, formats: readonly Format[]): PresetFormat[] =>
  formats.map(format => ({ format, baseUrl, ...(USUAL[format] === undefined ? {} : { dialect: USUAL[format] }) }))
