import type { JsonObject } from '../../canonical/node.ts'
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
  efforts: SHARED_FLAGS.efforts,
  forced_tools: MESSAGES_FLAGS.forced_tools,
  prefill: MESSAGES_FLAGS.prefill,
  bound_proofs: MESSAGES_FLAGS.bound_proofs,
  cache_points: {
    values: 'boolean',
    default: false,
    meaning: 'accepts cache points; default: true for Anthropic and Nova models',
  },
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
