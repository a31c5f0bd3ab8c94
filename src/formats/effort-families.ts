import type { JsonObject } from '../canonical/node.ts'
import type { Effort } from '../canonical/request.ts'

const EFFORTS_UP_TO_HIGH = ['low', 'medium', 'high'] as const

const ALWAYS_THINKING = { thinking_off: 'never' } as const

/**
 * Efforts that models support in `chat` and `responses`, weakest first, by model name. The first matching row applies.
 * Newer versions are assumed to support the same efforts as the latest known version.
 *
 * Sources, read on 2026-11-23: OpenAI's guide "Reasoning" and its model pages (developers.openai.com/api/docs), the
 * error that `gpt-5.1` answers to `minimal` (openai/openai-agents-python#2089), the model card of gpt-oss, and Google's
 * "OpenAI compatibility" (ai.google.dev); "Use thinking effort" (platform.kimi.ai/docs), read on 2026-11-28.
 */
const EFFORT_FAMILIES: readonly (readonly [name: RegExp, efforts: readonly Effort[], dialect?: JsonObject])[] = [
  [/gpt-5(?:\.\d+)?-chat/, []],
  [/gpt-5-pro/, ['high']],
  [/gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/gpt-5(?:\.1)?-codex(?!-max)/, EFFORTS_UP_TO_HIGH],
  [/gpt-5\.\d+-codex/, [...EFFORTS_UP_TO_HIGH, 'xhigh']],
  [/gpt-5(?![.\d])/, ['minimal', ...EFFORTS_UP_TO_HIGH]],
  [/gpt-5\.1(?!\d)/, ['none', ...EFFORTS_UP_TO_HIGH]],
  [/gpt-(?:5\.\d|[6-9](?!\d))/, ['none', ...EFFORTS_UP_TO_HIGH, 'xhigh']],
  [/gpt-oss/, EFFORTS_UP_TO_HIGH],
  [/(?<![a-z0-9])o1-(?:mini|preview)/, []],
  [/(?<![a-z0-9])o[1-9](?:-mini)?-deep-research/, ['medium']],
  [/(?<![a-z0-9])o[1-9](?![a-z0-9])/, EFFORTS_UP_TO_HIGH],
  [/gemini-(?:2\.5|[3-9])/, EFFORTS_UP_TO_HIGH],
  [/kimi-k2\.7-code/, [], ALWAYS_THINKING],
  [/kimi-k[3-9]/, ['low', 'high', 'max'], ALWAYS_THINKING],
]

/** Returns a model's dialect flags in `chat` and `responses`, by its name, or undefined for an unknown family. */
export function effortDialect(model: string): JsonObject | undefined {
  const family = EFFORT_FAMILIES.find(([name]) => name.test(model))
  return family && { efforts: family[1], ...family[2] }
}
