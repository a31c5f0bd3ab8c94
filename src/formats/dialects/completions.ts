import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS } from './shared-flags.ts'

/** Dialect flags of text completions upstreams. */
export const FLAGS = {
  include_usage: SHARED_FLAGS.include_usage,
  suffix: {
    values: 'boolean',
    default: true,
    meaning:
      'takes `suffix`; default: true, and false for vLLM and llama.cpp; if false, the prompt is written with the tokens by which the model fills in the middle (Qwen, DeepSeek, Codestral, StarCoder, Granite, CodeGemma, Code Llama), and for other models without the suffix',
  },
  prompts: {
    values: ['many', 'one'],
    default: 'many',
    meaning:
      'the prompts of one request: several (`many`, default), or one text (`one`; Together and Ollama), so that each prompt is a request of its own',
  },
} as const satisfies Flags

export type CompletionsDialect = DialectOf<typeof FLAGS>

export const completionsDialect = (dialect: JsonObject): CompletionsDialect => dialect as CompletionsDialect
