import fc from 'fast-check'
import type { JsonObject } from '../../src/canonical/node.ts'
import { familyDialect } from '../../src/formats/index.ts'

/* Generators of dialects, for laws that hold whatever an upstream declares. */

/** Models of every family, as vendors name them. */
export const CLAUDES = [
  ...['claude-2.1', 'claude-3-haiku-20240307', 'claude-3-7-sonnet-20250219', 'claude-sonnet-4-20250514'],
  ...['claude-opus-4-1-20250805', 'anthropic/claude-sonnet-4.5', 'claude-opus-4-5@20251101', 'claude-haiku-4-5'],
  ...['us.anthropic.claude-opus-4-6-v1:0', 'claude-sonnet-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-5'],
  ...['claude-fable-5', 'claude-fable-5-1', 'claude-mythos-preview', 'claude-opus-5-5', 'claude-sonnet-5-5'],
  ...['claude-haiku-5-5', 'claude-next'],
] as const

/** Models of other vendors that Bedrock hosts. */
const HOSTED = [
  ...['us.amazon.nova-pro-v1:0', 'global.amazon.nova-2-lite-v1:0', 'openai.gpt-oss-120b-1:0', 'openai.gpt-5.6-sol'],
  ...['us.meta.llama3-3-70b-instruct-v1:0', 'mistral.mistral-large-2407-v1:0', 'xai.grok-4.6', 'zai.glm-4.7'],
  ...['moonshotai.kimi-k2.5', 'us.mistral.pixtral-large-2502-v1:0', 'qwen.qwen3-vl-235b-a22b'],
] as const

const family = fc.constantFrom(...CLAUDES).map(model => familyDialect('messages', model) ?? {})

const declared = fc.record<JsonObject>(
  {
    sampling: fc.constantFrom('all', 'one', 'none'),
    max_tokens: fc.integer({ min: 1, max: 9000 }),
    max_output: fc.integer({ min: 1, max: 9000 }),
    listed_output: fc.integer({ min: 1, max: 9000 }),
    images: fc.boolean(),
    files: fc.boolean(),
    system_turns: fc.boolean(),
    thinking: fc.constantFrom('adaptive', 'budget', 'both', 'none'),
    thinking_off: fc.constantFrom('disabled', 'between_tools', 'never', 'refused'),
    efforts: fc.subarray(['low', 'medium', 'high', 'xhigh', 'max']),
    forced_tools: fc.boolean(),
    bound_proofs: fc.boolean(),
    prefill: fc.boolean(),
    cache: fc.constantFrom('auto', 'off'),
    threads: fc.boolean(),
    preview_fields: fc.boolean(),
    hosted_tools: fc.constantFrom('all', 'search', 'none'),
    service_tiers: fc.boolean(),
    reasoning_demanded: fc.boolean(),
    forced_while_thinking: fc.boolean(),
    custom_type: fc.boolean(),
    user_ids: fc.constantFrom('any', 'word'),
    strict_tools: fc.boolean(),
    argument_names: fc.constantFrom('any', 'plain'),
    schemas: fc.constantFrom('any', 'current', 'grammar', 'groq', 'kimi', 'xai'),
    json_schema: fc.boolean(),
    version: fc.constantFrom('2023-06-01', '2026-10-21', '2027-01-01', 'caller'),
  },
  { requiredKeys: [], noNullPrototype: true },
)

/** Flags of settings that some models of OpenAI refuse. */
const settings = {
  sampling: fc.constantFrom('all', 'unless_thinking', 'while_off', 'none'),
  penalties: fc.boolean(),
  verbosity: fc.boolean(),
  max_output: fc.integer({ min: 1, max: 9000 }),
}

/** Flags of chat and responses that change a history or settings. */
const chat = fc.record<JsonObject>(
  {
    ...settings,
    stop: fc.boolean(),
    old_limit: fc.boolean(),
    efforts: fc.subarray(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    temperatures: fc.constantFrom('any', 'to_1', 'above_0'),
    whole_thinking: fc.boolean(),
    odd_arguments: fc.boolean(),
    empty_calls: fc.boolean(),
    thinks_by_default: fc.boolean(),
    reasoning_as: fc.constantFrom(
      ...['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs', 'none'],
    ),
    thinking_on: fc.constantFrom('enabled', 'adaptive'),
    thinking_off: fc.constantFrom('disabled', 'never'),
    reasoning_field: fc.constantFrom('reasoning_content', 'reasoning', 'parts', 'none'),
    reasoning_demanded: fc.boolean(),
    cache: fc.constantFrom('none', 'cache_control', 'prompt_cache_breakpoint'),
    custom_tools: fc.boolean(),
    developer_role: fc.boolean(),
    system_turns: fc.boolean(),
    chat_templates: fc.boolean(),
    joined_turns: fc.boolean(),
    json_object: fc.boolean(),
    tool_choices: fc.constantFrom('all', 'one', 'modes', 'none'),
    strict_tools: fc.boolean(),
    schemas: fc.constantFrom('any', 'current', 'grammar', 'groq', 'kimi'),
    json_schema: fc.boolean(),
    json_with_tools: fc.boolean(),
    forced_while_thinking: fc.boolean(),
    functions_while_thinking: fc.boolean(),
    store: fc.boolean(),
    request_fields: fc.constantFrom(
      ...['any', 'mistral', 'groq', 'cerebras', 'xai', 'fireworks', 'nvidia', 'azure', 'ark'],
    ),
    parallel_switch: fc.boolean(),
    call_ids: fc.constantFrom('any', 'short'),
    call_signatures: fc.boolean(),
    after_tools: fc.constantFrom('anyone', 'assistant'),
    result_media: fc.boolean(),
    images: fc.boolean(),
    files: fc.boolean(),
    video: fc.boolean(),
    document_url: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
)
/** Flags of models that Bedrock hosts. */
const converse = fc.record<JsonObject>(
  {
    sampling: fc.constantFrom('all', 'one', 'none'),
    max_output: fc.integer({ min: 1, max: 9000 }),
    thinking: fc.constantFrom('adaptive', 'budget', 'both', 'none'),
    thinking_off: fc.constantFrom('disabled', 'never'),
    efforts: fc.subarray(['low', 'medium', 'high', 'xhigh', 'max']),
    forced_tools: fc.boolean(),
    bound_proofs: fc.boolean(),
    prefill: fc.boolean(),
    cache_points: fc.boolean(),
    cache: fc.constantFrom('auto', 'off'),
    system_tools: fc.boolean(),
    top_k: fc.boolean(),
    effort_field: fc.constantFrom('thinking', 'reasoning_effort', 'reasoning', 'reasoning_config', 'reasoningConfig'),
    stop: fc.boolean(),
    images: fc.boolean(),
    streamed_tools: fc.boolean(),
    named_tools: fc.boolean(),
    tool_cache_points: fc.boolean(),
    cache_times: fc.boolean(),
    plain_schemas: fc.boolean(),
    argument_names: fc.constantFrom('any', 'plain'),
    strict_tools: fc.boolean(),
    json_schema: fc.boolean(),
    result_media: fc.boolean(),
    signatures: fc.constantFrom('any', 'hidden', 'none'),
    after_tools: fc.constantFrom('anyone', 'no_files', 'assistant'),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const responses = fc.record<JsonObject>(
  {
    ...settings,
    reasons: fc.boolean(),
    summaries: fc.boolean(),
    efforts: fc.subarray(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    images: fc.boolean(),
    files: fc.boolean(),
    stateless: fc.boolean(),
    odd_arguments: fc.boolean(),
    namespaces: fc.boolean(),
    hosted_tools: fc.constantFrom('all', 'search', 'none'),
    cache: fc.constantFrom('none', 'prompt_cache_breakpoint'),
    custom_tools: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
)

/** Flags of upstreams of interactions. */
const interactions = fc.record<JsonObject>(
  {
    efforts: fc.subarray(['minimal', 'low', 'medium', 'high', 'xhigh']),
    stateless: fc.boolean(),
    result_media: fc.boolean(),
    default_voice: fc.constant('Puck'),
  },
  { requiredKeys: [], noNullPrototype: true },
)

/** Dialects by format. A format without relevant dialects has the public one. */
export const DIALECTS: { readonly [format: string]: fc.Arbitrary<JsonObject> } = {
  chat,
  completions: fc.record<JsonObject>({ suffix: fc.boolean() }, { requiredKeys: [], noNullPrototype: true }),
  converse: fc.oneof(
    converse,
    fc.constantFrom(...CLAUDES, ...HOSTED).map(model => familyDialect('converse', model) ?? {}),
  ),
  contents: fc.record<JsonObject>(
    {
      signed_turns: fc.boolean(),
      result_media: fc.boolean(),
      thinking: fc.constantFrom('level', 'budget', 'both', 'none'),
      thinking_off: fc.constantFrom('disabled', 'never'),
      efforts: fc.subarray(['minimal', 'low', 'medium', 'high', 'xhigh']),
      min_budget: fc.constant(128),
      max_budget: fc.constant(24_576),
      max_output: fc.constant(8192),
      penalties: fc.boolean(),
      logprobs: fc.boolean(),
      candidates: fc.boolean(),
      json: fc.constantFrom('always', 'without_tools', 'never'),
      system: fc.boolean(),
      prefill: fc.boolean(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  'cohere-chat': fc.record<JsonObject>({ thinks: fc.boolean() }, { requiredKeys: [], noNullPrototype: true }),
  embeddings: fc.record<JsonObject>(
    {
      dimensions_field: fc.constantFrom('dimensions', 'output_dimension', 'none'),
      encoding_field: fc.constantFrom('encoding_format', 'embedding_type'),
      float_encoding: fc.boolean(),
      base64_encoding: fc.boolean(),
      purpose_field: fc.constantFrom('input_type', 'task'),
      default_purpose: fc.constantFrom('query', 'document'),
      document_word: fc.constantFrom('document', 'passage'),
      tokens: fc.boolean(),
      image_input: fc.boolean(),
      end_user: fc.boolean(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  images: fc.record<JsonObject>(
    {
      edits: fc.constantFrom('any', 'form', 'urls', 'image'),
      gpt_image: fc.boolean(),
      bytes_word: fc.constantFrom('b64_json', 'base64'),
      output_types: fc.constantFrom('any', 'png_jpeg'),
      output_settings: fc.boolean(),
      response_format: fc.boolean(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  interactions,
  messages: fc.oneof(family, declared),
  rerank: fc.record<JsonObject>(
    { top_field: fc.constantFrom('top_n', 'top_k'), documents: fc.constantFrom('any', 'text') },
    { requiredKeys: [], noNullPrototype: true },
  ),
  responses,
  speech: fc.record<JsonObject>(
    {
      speech_events: fc.boolean(),
      wav_only: fc.boolean(),
      raw_samples: fc.constantFrom('pcm', 'raw'),
      speech_fields: fc.constantFrom('openai', 'mistral'),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  transcriptions: fc.record<JsonObject>(
    {
      transcript_shapes: fc.constantFrom('all', 'json'),
      transcript_events: fc.boolean(),
      transcript_fields: fc.constantFrom('any', 'groq'),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  videos: fc.record<JsonObject>(
    { remix: fc.boolean(), references: fc.constantFrom('any', 'files') },
    { requiredKeys: [], noNullPrototype: true },
  ),
}
