import type { Format, JsonObject } from '../canonical/node.ts'
import type { PresetFormat } from './preset.ts'

/** What most vendors of a format accept: usage in every stream, for the log and the limits (trap 22). */
const USUAL: { readonly [format: Format]: JsonObject } = { completions: { include_usage: true } }

/** Formats of OpenAI's family at one address. */
export const family = (baseUrl: string, formats: readonly Format[]): PresetFormat[] =>
  formats.map(format => ({ format, baseUrl, ...(USUAL[format] === undefined ? {} : { dialect: USUAL[format] }) }))
