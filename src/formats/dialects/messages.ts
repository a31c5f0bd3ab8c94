import type { Json, JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import {
  CACHE_MEANING,
  SAMPLING_MEANING,
  SHARED_FLAGS,
  THINKING_MEANING,
  THINKING_OFF_MEANING,
} from './shared-flags.ts'

/** API version that every client and upstream accepts. Used if none is stated. */
export const MESSAGES_VERSION = '2023-06-01'

/** `version` value meaning: forward the version that each caller sent (callers of this format only). */
export const CALLERS_VERSION = 'caller'

/** Version that removed sampling parameters, documents in assistant turns and citations in user turns. */
const STRICT_VERSION = '2026-10-21'

/**
 * Returns true if the rules of version 2026-10-21 apply to a version. An unknown date is treated as the latest known
 * version that precedes it.
 */
export const isStrictVersion = (version: string): boolean => version >= STRICT_VERSION

/** Returns true if the value is a valid `version` of a messages upstream. */
export const isVersion = (value: Json): boolean =>
  value === CALLERS_VERSION || (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value))

/** Dialect flags of messages upstreams. Anything that the flags rule out is never sent, even for native callers. */
export const FLAGS = {
  sampling: {
    values: ['all', 'one', 'none'],
    default: 'all',
    meaning: SAMPLING_MEANING,
  },
  /** Required by the format. Defaults to `max_output`, then `listed_output`, then 32,000. */
  max_tokens: {
    values: 'number',
    meaning: "tokens; the output limit for requests without one; by default the model's maximum output, or 32,000",
  },
  max_output: SHARED_FLAGS.max_output,
  listed_output: {
    values: 'number',
    meaning: 'tokens; the maximum output in the catalogue; higher limits in requests are sent unchanged',
  },
  version: SHARED_FLAGS.version,
  key_as: {
    values: ['x-api-key', 'bearer', 'version'],
    meaning:
      'how the key is sent: in the header `x-api-key`, as a bearer token, or as the SDKs of the sent version do (`version`: a bearer from 2026-10-21 on); `x-api-key` by default, unless the preset says otherwise',
  },
  images: SHARED_FLAGS.images,
  files: SHARED_FLAGS.files,
  fetch_urls: SHARED_FLAGS.fetch_urls,
  system_turns: SHARED_FLAGS.system_turns,
  thinking: {
    values: ['adaptive', 'budget', 'both', 'none'],
    default: 'both',
    meaning: THINKING_MEANING,
  },
  thinking_off: {
    values: ['disabled', 'between_tools', 'never', 'refused'],
    default: 'disabled',
    meaning: THINKING_OFF_MEANING,
  },
  efforts: SHARED_FLAGS.efforts,
  /** See trap 39. */
  effort_while_off: {
    values: 'boolean',
    default: true,
    meaning: 'takes an effort while thinking is off; default: true',
  },
  reasoning_demanded: SHARED_FLAGS.reasoning_demanded,
  bound_proofs: {
    values: 'boolean',
    default: false,
    meaning:
      'refuses the signature of a reasoning block if anything before the block changed; reasoning that a caller did not send back is then restored only if nothing before it changed; default: false',
  },
  forced_tools: {
    values: 'boolean',
    default: true,
    meaning: 'takes a tool choice that forces a tool call; default: true',
  },
  forced_while_thinking: SHARED_FLAGS.forced_while_thinking,
  custom_type: {
    values: 'boolean',
    default: true,
    meaning: 'takes `type: custom` of tools; default: true; if false, the type is left out, as it is the default',
  },
  user_ids: {
    values: ['any', 'word'],
    default: 'any',
    meaning:
      '`word`: takes `metadata.user_id` of letters, digits, `-` and `_`, so that others are replaced with their SHA-256; `any` by default',
  },
  prefill: SHARED_FLAGS.prefill,
  cache: { values: ['auto', 'off'], default: 'off', meaning: CACHE_MEANING },
  /** See trap 94. */
  threads: {
    values: 'boolean',
    default: false,
    meaning: 'stores conversations (`thread`) for native callers; default: false',
  },
  preview_fields: {
    values: 'boolean',
    default: true,
    meaning:
      'takes any field of a preview (`context_management`, `mcp_servers`, `speed`, `defer_loading` of a tool); default: true, and false for Claude on Bedrock and Google Cloud: such a field is then sent only if `betas` of the channel passes on its beta',
  },
  hosted_tools: SHARED_FLAGS.hosted_tools,
  service_tiers: {
    values: 'boolean',
    default: true,
    meaning: 'takes `service_tier`; default: true, and false for InvokeModel and Google Cloud',
  },
  strict_tools: SHARED_FLAGS.strict_tools,
  schemas: SHARED_FLAGS.schemas,
  argument_names: SHARED_FLAGS.argument_names,
  json_schema: SHARED_FLAGS.json_schema,
  bedrock: {
    values: 'boolean',
    default: false,
    meaning:
      'serves Claude as InvokeModel of Bedrock does, which takes strict tools and schemas of answers for Claude 4.5 and 4.6 alone; default: true for the preset `bedrock-invoke`',
  },
  count: SHARED_FLAGS.count,
} as const satisfies Flags

export type MessagesDialect = DialectOf<typeof FLAGS>

export const messagesDialect = (dialect: JsonObject): MessagesDialect => dialect as MessagesDialect

/** Dialect of a messages upstream other than Anthropic, without later additions to the format (traps 38, 39, 42). */
export const PLAIN_MESSAGES = {
  system_turns: false,
  thinking: 'budget',
  effort_while_off: false,
  cache: 'off',
  count: false,
} as const satisfies MessagesDialect
