import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS, THINKING_MEANING, THINKING_OFF_MEANING, VOICE_FLAGS } from './shared-flags.ts'

/** Dialect flags of generateContent upstreams. The defaults describe Google's Gemini API. */
export const FLAGS = {
  vertex: SHARED_FLAGS.vertex,
  /** See trap 55. */
  schema: {
    values: ['json', 'openapi'],
    default: 'json',
    meaning: 'how schemas are written: as JSON Schema (default), or in the older OpenAPI subset',
  },
  /** See trap 50. */
  fetch_urls: SHARED_FLAGS.fetch_urls,
  signed_turns: {
    values: 'boolean',
    default: false,
    meaning:
      'refuses turns of the model whose first text or images have no signature, so that those of another origin get the word that skips the check; default: false, and true for the image models of Gemini 3 and later',
  },
  result_media: SHARED_FLAGS.result_media,
  thinking: { values: ['level', 'budget', 'both', 'none'], default: 'both', meaning: THINKING_MEANING },
  thinking_off: { values: ['disabled', 'never'], default: 'disabled', meaning: THINKING_OFF_MEANING },
  efforts: SHARED_FLAGS.efforts,
  min_budget: {
    values: 'number',
    meaning: 'tokens; the lowest thinking budget; lower ones in requests are raised to it',
  },
  max_budget: {
    values: 'number',
    meaning: 'tokens; the highest thinking budget; higher ones in requests are lowered to it',
  },
  max_output: SHARED_FLAGS.max_output,
  penalties: SHARED_FLAGS.penalties,
  logprobs: {
    values: 'boolean',
    default: true,
    meaning:
      'takes requests for log probabilities; default: true, and false for Gemini from 2.5 on (Vertex AI: from 3 on)',
  },
  candidates: {
    values: 'boolean',
    default: true,
    meaning:
      'takes requests for several answers; default: true, and false for Gemini 3 and later (not at Vertex AI) and for image models',
  },
  json: {
    values: ['always', 'without_tools', 'never'],
    default: 'always',
    meaning:
      'when answers in JSON can be requested; otherwise the model is asked in words; `always` by default, `without_tools` for Gemini before 3, `never` for Gemma before 4 and earlier image models',
  },
  system: {
    values: 'boolean',
    default: true,
    meaning:
      'takes a system instruction; if false, it begins the conversation as a turn of the user; default: true, and false for Gemma before 4',
  },
  prefill: SHARED_FLAGS.prefill,
  ...VOICE_FLAGS,
  count: SHARED_FLAGS.count,
  batch: SHARED_FLAGS.batch,
} as const satisfies Flags

export type ContentsDialect = DialectOf<typeof FLAGS>

export const contentsDialect = (dialect: JsonObject): ContentsDialect => dialect as ContentsDialect
