import type { Effort } from '../canonical/request.ts'

const UP_TO_HIGH = ['low', 'medium', 'high'] as const

/**
 * The efforts that models of `chat` and `responses` support, weakest first, by model name; the first matching row
 * applies. A newer version is assumed to support what the last known one does.
 *
 * Sources, read on 2026-11-23: OpenAI's guide "Reasoning" and its model pages (developers.openai.com/api/docs), the
 * error that `gpt-5.1` answers to `minimal` (openai/openai-agents-python#2089), the model card of gpt-oss, and Google's
 * "OpenAI compatibility" (ai.google.dev).
 */
const EFFORT_FAMILIES: readonly (readonly [name: RegExp, efforts: readonly Effort[]])[] = [
  [/gpt-5(?:\.\d+)?-chat/, []],
  [/gpt-5-pro/, ['high']],
  [/gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/gpt-5(?:\.1)?-codex(?!-max)/, UP_TO_HIGH],
  [/gpt-5\.\d+-codex/, [...UP_TO_HIGH, 'xhigh']],
  [/gpt-5(?![.\d])/, ['minimal', ...UP_TO_HIGH]],
  [/gpt-5\.1(?!\d)/, ['none', ...UP_TO_HIGH]],
  [/gpt-(?:5\.\d|[6-9](?!\d))/, ['none', ...UP_TO_HIGH, 'xhigh']],
  [/gpt-oss/, UP_TO_HIGH],
  [/(?<![a-z0-9])o1-(?:mini|preview)/, []],
  [/(?<![a-z0-9])o[1-9](?:-mini)?-deep-research/, ['medium']],
  [/(?<![a-z0-9])o[1-9](?![a-z0-9])/, UP_TO_HIGH],
  [/gemini-(?:2\.5|[3-9])/, UP_TO_HIGH],
]

/** The efforts that a model supports; undefined for a model of an unknown family. */
export const effortsOf = (model: string): readonly Effort[] | undefined =>
  EFFORT_FAMILIES.find(([name]) => name.test(model))?.[1]
