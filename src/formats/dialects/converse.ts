import type { JsonObject } from '../../canonical/node.ts'
import { FLAGS as CHAT_FLAGS } from './chat.ts'
import type { DialectOf, Flags } from './flag.ts'
import { FLAGS as MESSAGES_FLAGS } from './messages.ts'
import { SHARED_FLAGS } from './shared-flags.ts'

/**
 * Dialect flags of Converse upstreams, which host models of many vendors. By default, a model accepts neither cache
 * points nor thinking settings.
 */
export const FLAGS = {
  sampling: MESSAGES_FLAGS.sampling,
  max_output: MESSAGES_FLAGS.max_output,
  thinking: { values: MESSAGES_FLAGS.thinking.values, meaning: MESSAGES_FLAGS.thinking.meaning },
  thinking_off: {
    values: ['disabled', 'never'],
    default: 'disabled',
    meaning: MESSAGES_FLAGS.thinking_off.meaning,
  },
  images: SHARED_FLAGS.images,
  result_media: SHARED_FLAGS.result_media,
  efforts: SHARED_FLAGS.efforts,
  effort_field: {
    values: ['thinking', 'reasoning_effort', 'reasoning', 'reasoning_config', 'reasoningConfig'],
    default: 'thinking',
    meaning:
      'the field of `additionalModelRequestFields` for reasoning: `thinking` of Claude by default; `reasoning_effort` of gpt-oss, DeepSeek and GLM; `reasoning` of GPT and Grok; `reasoning_config` of Qwen; `reasoningConfig` of Nova 2',
  },
  stop: SHARED_FLAGS.stop,
  streamed_tools: {
    values: 'boolean',
    default: true,
    meaning:
      'streams answers to requests with tools; default: true, and false for Llama and older models of Mistral, whose answers are then requested as a whole',
  },
  forced_tools: MESSAGES_FLAGS.forced_tools,
  named_tools: {
    values: 'boolean',
    default: true,
    meaning: 'takes a tool choice that names a tool; default: true; if false, only that tool is offered',
  },
  prefill: MESSAGES_FLAGS.prefill,
  after_tools: {
    values: ['anyone', 'no_files', 'assistant'],
    default: 'anyone',
    meaning: CHAT_FLAGS.after_tools.meaning,
  },
  bound_proofs: MESSAGES_FLAGS.bound_proofs,
  signatures: {
    values: ['any', 'hidden', 'none'],
    default: 'any',
    meaning:
      'the signed reasoning that is sent back: all of it (`any`, default), only hidden reasoning (`hidden`, GPT and Grok) or none (`none`, other models than Claude), because these refuse the signatures of the models before them in a conversation',
  },
  cache_points: {
    values: 'boolean',
    default: false,
    meaning: 'accepts cache points; default: true for Nova and for Claude from 3.5 Haiku on',
  },
  tool_cache_points: {
    values: 'boolean',
    default: true,
    meaning: 'accepts cache points among the tools; default: true, and false for Nova',
  },
  cache_times: {
    values: 'boolean',
    default: true,
    meaning: 'accepts the duration of a cache point; default: true, and false for Nova and for Claude before 4.5',
  },
  plain_schemas: {
    values: 'boolean',
    default: false,
    meaning:
      'schemas of tools have `type`, `properties` and `required` alone at their top, and no references; default: true for Nova, which refuses all other keywords there',
  },
  json_schema: SHARED_FLAGS.json_schema,
  argument_names: SHARED_FLAGS.argument_names,
  strict_tools: SHARED_FLAGS.strict_tools,
  top_k: {
    values: 'boolean',
    default: false,
    meaning: 'accepts `top_k` in `additionalModelRequestFields`; default: true for Anthropic models',
  },
  system_tools: {
    values: 'boolean',
    default: false,
    meaning:
      'offers `nova_grounding` for web search and `nova_code_interpreter` for code execution, as Nova 2 does for accounts with the permission `bedrock:InvokeTool`',
  },
  cache: MESSAGES_FLAGS.cache,
  count: SHARED_FLAGS.count,
} as const satisfies Flags

export type ConverseDialect = DialectOf<typeof FLAGS>

export const converseDialect = (dialect: JsonObject): ConverseDialect => dialect as ConverseDialect
