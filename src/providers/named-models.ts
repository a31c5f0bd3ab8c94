import type { Format } from '../canonical/node.ts'

/** A way into a body, field by field; `*` is every item of a list. */
export type Place = readonly string[]

/** Fallbacks are named alone or with settings of their own. */
const PLACES: readonly Place[] = [
  ['models', '*'],
  ['fallbacks', '*'],
  ['tools', '*', 'model'],
]

/** Codex says its tools in an item of the input (trap 89). */
const OF_RESPONSES: readonly Place[] = [...PLACES, ['input', '*', 'tools', '*', 'model']]

/**
 * Where bodies of a format name models beside the one they are for: OpenRouter's `models`, the `fallbacks` of LiteLLM
 * and of Anthropic, the models that draw (OpenAI) and advise (Anthropic) among tools (2026-11). Contents name one model
 * only, which its reader sees to.
 */
export const NAMED_MODELS: ReadonlyMap<Format, readonly Place[]> = new Map([
  ['chat', PLACES],
  ['completions', PLACES],
  ['messages', PLACES],
  ['responses', OF_RESPONSES],
])
