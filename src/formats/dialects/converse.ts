import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { FLAGS as MESSAGES_FLAGS } from './messages.ts'
import { SHARED } from './shared-flags.ts'

/**
 * The dialect flags of Converse upstreams, which host models of many vendors. Without a flag the model takes neither
 * cache points nor thinking settings.
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
  efforts: SHARED.efforts,
  forced_tools: MESSAGES_FLAGS.forced_tools,
  prefill: MESSAGES_FLAGS.prefill,
  bound_proofs: MESSAGES_FLAGS.bound_proofs,
  cache_points: {
    values: 'boolean',
    default: false,
    meaning: 'takes cache points; true by default for models of Anthropic and for Nova',
  },
  top_k: {
    values: 'boolean',
    default: false,
    meaning: 'takes `top_k` among the fields of the model; true by default for models of Anthropic',
  },
  system_tools: {
    values: 'boolean',
    default: false,
    meaning:
      'has `nova_grounding` for web searches and `nova_code_interpreter` for code, as Nova 2 has for accounts with the permission `bedrock:InvokeTool`',
  },
  cache: MESSAGES_FLAGS.cache,
  count: SHARED.count,
} as const satisfies Flags

export type ConverseDialect = DialectOf<typeof FLAGS>

export const converseDialect = (dialect: JsonObject): ConverseDialect => dialect as ConverseDialect
