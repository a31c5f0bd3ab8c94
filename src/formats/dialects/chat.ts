import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { CACHE_MEANING, REQUEST_FIELDS_MEANING, SHARED_FLAGS, THINKING_OFF_MEANING } from './shared-flags.ts'

/** Dialect flags of chat completions upstreams. */
export const FLAGS = {
  /** See traps 35 and 36. */
  reasoning_field: {
    values: ['reasoning_content', 'reasoning', 'parts', 'none'],
    default: 'none',
    meaning:
      'the field in which reasoning of earlier assistant turns is sent back to the upstream; `parts`: as `thinking` parts of the content; `none` by default. With a field, the gateway also restores reasoning that a native caller no longer has',
  },
  /** See trap 35. */
  reasoning_demanded: SHARED_FLAGS.reasoning_demanded,
  reasoning_as: {
    values: ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs', 'none'],
    default: 'reasoning_effort',
    meaning:
      'the field that sets reasoning: `reasoning_effort` by default; `reasoning` of OpenRouter; `thinking` of DeepSeek, Z.AI, Kimi and MiniMax, beside an effort if `efforts` has any; `enable_thinking` with `thinking_budget` of Qwen; `chat_template_kwargs` of vLLM and SGLang. If it is set, switches of other vendors in requests of native callers are translated to it',
  },
  thinking_on: {
    values: ['enabled', 'adaptive'],
    default: 'enabled',
    meaning: 'the type with which `thinking` is turned on; `enabled` by default',
  },
  thinking_off: {
    values: ['disabled', 'never'],
    default: 'disabled',
    meaning: THINKING_OFF_MEANING,
  },
  forced_while_thinking: SHARED_FLAGS.forced_while_thinking,
  functions_while_thinking: {
    values: 'boolean',
    default: true,
    meaning:
      'takes functions while the model thinks; default: true, and false for GPT-5.4 and later at OpenAI and Azure; if false, thinking is turned off for requests with functions, unless the channel can send them as Responses',
  },
  reasoning_split: {
    values: 'boolean',
    default: false,
    meaning:
      'sends `reasoning_split: true` for callers of other formats, so that the upstream separates reasoning from text; default: false',
  },
  whole_thinking: {
    values: 'boolean',
    default: true,
    meaning:
      'answers as a whole after thinking; default: true; if false, callers of other formats who want a whole answer get one collected from a stream',
  },
  thinks_by_default: {
    values: 'boolean',
    default: false,
    meaning: 'thinks unless told otherwise; default: true for QwQ, QVQ, Qwen Omni and the open models of Qwen3',
  },
  cache: { values: ['none', 'cache_control', 'prompt_cache_breakpoint'], default: 'none', meaning: CACHE_MEANING },
  custom_tools: SHARED_FLAGS.custom_tools,
  developer_role: {
    values: 'boolean',
    default: true,
    meaning: 'takes the role `developer`; default: true; if false, `system` is written',
  },
  system_turns: SHARED_FLAGS.system_turns,
  chat_templates: {
    values: 'boolean',
    default: false,
    meaning:
      "runs the models' own chat templates, as llama.cpp, LM Studio, Ollama and vLLM do: callers of other formats then get `system_turns: false` and `joined_turns: true`, native callers for the models whose templates are known to demand it (Qwen 3.5 and later, Mistral, Gemma); models of Mistral also get `after_tools: assistant` and `call_ids: short`; default: false",
  },
  joined_turns: {
    values: 'boolean',
    default: false,
    meaning: 'refuses turns of the user in a row, so that they become one; default: false, or as `chat_templates` says',
  },
  max_output: SHARED_FLAGS.max_output,
  limit_field: {
    values: ['max_completion_tokens', 'max_tokens'],
    default: 'max_completion_tokens',
    meaning: 'the name of the field for the output limit',
  },
  old_limit: {
    values: 'boolean',
    default: true,
    meaning:
      'takes `max_tokens` of native callers; default: true; if false, `max_completion_tokens` is written, as models of OpenAI that reason demand',
  },
  include_usage: SHARED_FLAGS.include_usage,
  text_only_content: {
    values: ['parts', 'string'],
    default: 'parts',
    meaning: '`string`: takes texts as strings, not as lists of parts',
  },
  json_schema: SHARED_FLAGS.json_schema,
  json_with_tools: {
    values: 'boolean',
    default: true,
    meaning: 'takes `response_format` beside tools; default: true; if false, JSON is then requested in words',
  },
  json_object: {
    values: 'boolean',
    default: true,
    meaning:
      'takes `response_format` with the type `json_object`; default: true, and false for LM Studio; if false, a schema of any object is written',
  },
  strict_tools: SHARED_FLAGS.strict_tools,
  schemas: SHARED_FLAGS.schemas,
  store: { values: 'boolean', default: true, meaning: 'takes `store`; default: true' },
  tool_choices: {
    values: ['all', 'one', 'modes', 'none'],
    default: 'all',
    meaning:
      'the tool choices that are taken: `all` (default), `one` (a mode or one function; vendors other than OpenAI), `modes` (`auto`, `required`, `none`; LM Studio and llama.cpp), or none (Ollama); of other choices, only the tools that they allow are offered',
  },
  parallel_switch: {
    values: 'boolean',
    default: true,
    meaning: 'takes `parallel_tool_calls`; default: true; false for the o-series of OpenAI',
  },
  call_ids: {
    values: ['any', 'short'],
    default: 'any',
    meaning: '`short`: tool call ids must have nine letters and digits, and are rewritten so; `any` by default',
  },
  odd_arguments: SHARED_FLAGS.odd_arguments,
  empty_calls: {
    values: 'boolean',
    default: true,
    meaning:
      'takes an empty `tool_calls` in turns of the model, as other vendors answer it; default: true, and false for OpenAI and Azure OpenAI; if false, it is left out',
  },
  call_signatures: {
    values: 'boolean',
    default: false,
    meaning:
      "takes Google's signature of a call beside it (`extra_content`), so that callers of other formats return it; default: false",
  },
  after_tools: {
    values: ['anyone', 'assistant'],
    default: 'anyone',
    meaning:
      '`assistant`: only an assistant message may follow a tool message, so one is inserted, and a system message behind them becomes one of the user; `no_files` (Converse, Claude): one is inserted before documents and videos; `anyone` by default',
  },
  result_media: SHARED_FLAGS.result_media,
  images: SHARED_FLAGS.images,
  files: SHARED_FLAGS.files,
  fetch_urls: SHARED_FLAGS.fetch_urls,
  video: { values: 'boolean', default: false, meaning: 'takes `video_url` parts' },
  document_url: {
    values: 'boolean',
    default: false,
    meaning: 'takes files by URL, as `document_url` parts; otherwise they are fetched and sent as `file` parts',
  },
  request_fields: {
    values: ['any', 'mistral', 'groq', 'cerebras', 'fireworks', 'nvidia', 'azure'],
    default: 'any',
    meaning: REQUEST_FIELDS_MEANING,
  },
  efforts: SHARED_FLAGS.efforts,
  temperatures: {
    values: ['any', 'to_1', 'above_0'],
    default: 'any',
    meaning:
      'the temperatures that are taken: `any` by default; `to_1`: from 0 to 1; `above_0`: above 0 and up to 1; both take no `top_p` of 0; the nearest is sent in place of others',
  },
  sampling: SHARED_FLAGS.sampling,
  penalties: SHARED_FLAGS.penalties,
  stop: SHARED_FLAGS.stop,
  verbosity: SHARED_FLAGS.verbosity,
} as const satisfies Flags

export type ChatDialect = DialectOf<typeof FLAGS>

export const chatDialect = (dialect: JsonObject): ChatDialect => dialect as ChatDialect

/** Dialect of a typical chat upstream other than OpenAI: no custom tools, no developer turns, no `store`. */
export const PLAIN_CHAT = {
  custom_tools: false,
  developer_role: false,
  store: false,
  tool_choices: 'one',
} as const satisfies ChatDialect
