import type { Format } from '../canonical/node.ts'

/** A path into a body, field by field; `*` is every item of a list. */
export type Place = readonly string[]

/** Fallbacks are names, or objects with further settings. */
const PLACES: readonly Place[] = [
  ['models', '*'],
  ['fallbacks', '*'],
  ['tools', '*', 'model'],
]

/** Codex sends its tools in an item of the input (trap 89). */
const OF_RESPONSES: readonly Place[] = [...PLACES, ['input', '*', 'tools', '*', 'model']]

/**
 * The places where bodies of a format name models beside the requested one: OpenRouter's `models`, the `fallbacks` of
 * LiteLLM and of Anthropic, the models that generate images (OpenAI) and advise (Anthropic) among tools (2026-11).
 * Contents name one model only, which its reader checks.
 */
export const NAMED_MODELS: ReadonlyMap<Format, readonly Place[]> = new Map([
  ['chat', PLACES],
  ['completions', PLACES],
  ['messages', PLACES],
  ['responses', OF_RESPONSES],
])
