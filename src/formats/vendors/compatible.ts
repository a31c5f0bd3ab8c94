import { PLAIN_CHAT } from '../dialects/chat.ts'
import { PLAIN_MESSAGES } from '../dialects/messages.ts'
import { PLAIN_RESPONSES } from '../dialects/responses.ts'
import type { Preset } from '../preset.ts'
import { XAI_RESPONSES_MODELS } from '../responses-models.ts'

/* Presets of vendors that use other vendors' formats, each with a dialect. */

export const openrouter: Preset = {
  name: 'openrouter',
  env: ['OPENROUTER_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://openrouter.ai/api/v1',
      dialect: {
        ...PLAIN_CHAT,
        developer_role: true,
        reasoning_field: 'reasoning',
        reasoning_as: 'reasoning',
        cache: 'cache_control',
        limit_field: 'max_tokens',
        include_usage: true,
      },
    },
    // "No matching discriminator" for tools of other types than its own (openai/codex#18307, awsl-project/maxx#537).
    {
      format: 'responses',
      baseUrl: 'https://openrouter.ai/api/v1',
      dialect: { ...PLAIN_RESPONSES, namespaces: false },
    },
    { format: 'messages', baseUrl: 'https://openrouter.ai/api', auth: 'bearer', dialect: { count: false } },
    // Models that do not know `base64` answer with no vectors (plastic-labs/honcho#932, July 2026).
    {
      format: 'embeddings',
      baseUrl: 'https://openrouter.ai/api/v1',
      dialect: { base64_encoding: false, tokens: false },
    },
    // `/images/generations` is 404 (songquanpeng/one-api#2426, July 2026; docs/wire/images.md#beyond-the-description).
    { format: 'images', baseUrl: 'https://openrouter.ai/api/v1', dialect: { edits: 'input_references' } },
  ],
}

/**
 * DeepSeek requires its reasoning to be sent back on turns with tool calls (trap 35). It accepts every effort next to
 * `thinking` and maps it to one of its own three ("Thinking Mode", api-docs.deepseek.com, read on 2026-11-28). Of files
 * it takes ids of uploads of its own only ("File Parsing", read on 2026-12-01; danny-avila/LibreChat#16235).
 */
export const deepseek: Preset = {
  name: 'deepseek',
  env: ['DEEPSEEK_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.deepseek.com',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_demanded: true,
        reasoning_as: 'thinking',
        efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
        forced_while_thinking: false,
        limit_field: 'max_tokens',
        text_only_content: 'string',
        json_schema: false,
        include_usage: true,
        files: false,
      },
    },
    {
      format: 'messages',
      baseUrl: 'https://api.deepseek.com/anthropic',
      dialect: {
        ...PLAIN_MESSAGES,
        files: false,
        reasoning_demanded: true,
        forced_while_thinking: false,
        custom_type: false,
        user_ids: 'word',
      },
    },
    { format: 'responses', baseUrl: 'https://api.deepseek.com', dialect: { ...PLAIN_RESPONSES, files: false } },
  ],
}

/**
 * Mistral refuses unknown fields, other vendors' tool call ids, and user turns directly after tool messages. It always
 * reports usage.
 */
export const mistral: Preset = {
  name: 'mistral',
  env: ['MISTRAL_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.mistral.ai/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'parts',
        limit_field: 'max_tokens',
        include_usage: false,
        request_fields: 'mistral',
        schemas: 'current',
        call_ids: 'short',
        after_tools: 'assistant',
        document_url: true,
      },
    },
    {
      format: 'embeddings',
      baseUrl: 'https://api.mistral.ai/v1',
      dialect: {
        dimensions_field: 'output_dimension',
        end_user: false,
        tokens: false,
        batch: 512,
        batch_tokens: 16_000,
      },
    },
    {
      format: 'speech',
      baseUrl: 'https://api.mistral.ai/v1',
      dialect: { speech_fields: 'mistral', speech_events: false },
    },
    {
      format: 'transcriptions',
      baseUrl: 'https://api.mistral.ai/v1',
      dialect: { transcript_shapes: 'none', transcript_fields: 'mistral' },
    },
  ],
}

export const xai: Preset = {
  name: 'xai',
  env: ['XAI_API_KEY'],
  formats: [
    {
      format: 'responses',
      baseUrl: 'https://api.x.ai/v1',
      // "unknown variant `namespace`" (bifrost#5428, July 2026), "Argument not supported: external_web_access".
      dialect: {
        ...{ custom_tools: false, namespaces: false, request_fields: 'xai', schemas: 'xai' },
        ...{ compaction: false, count: false },
      },
    },
    {
      format: 'chat',
      baseUrl: 'https://api.x.ai/v1',
      avoidedModels: XAI_RESPONSES_MODELS,
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning_content', include_usage: true },
    },
    { format: 'realtime', baseUrl: 'https://api.x.ai/v1', dialect: { layout: 'mixed', item_done: false } },
    {
      format: 'images',
      baseUrl: 'https://api.x.ai/v1',
      // 422 for fields that it does not know (ddcat-ai/open-ai-canvas#167, August 2026).
      dialect: {
        ...{ edits: 'urls', size_field: 'aspect_ratio', response_format: true, bytes_word: 'b64_json' },
        output_settings: false,
      },
    },
  ],
}

/** Z.ai requires its reasoning to be sent back (trap 35). */
export const zai: Preset = {
  name: 'zai',
  env: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.z.ai/api/paas/v4',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_as: 'thinking',
        limit_field: 'max_tokens',
        json_schema: false,
        temperatures: 'to_1',
        include_usage: true,
      },
    },
    { format: 'messages', baseUrl: 'https://api.z.ai/api/anthropic', dialect: PLAIN_MESSAGES },
  ],
}

/**
 * Kimi requires its reasoning to be sent back (trap 35). `thinking` turns reasoning off in K2 models, whereas later
 * models accept an effort (model-families.ts). Source: platform.kimi.ai/docs, "Models overview" and "Use thinking
 * effort", read on 2026-11-28. Kimi K2.5 and later have fixed sampling parameters, which depend on the thinking mode, and
 * refuse others: "invalid temperature: only 1 is allowed for this model" (new-api#5372, cline#10620; the AI SDK's and
 * pydantic-ai's tables, read on 2026-12-01). The older models that took them are no longer offered.
 */
export const moonshot: Preset = {
  name: 'moonshot',
  env: ['MOONSHOT_API_KEY', 'KIMI_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.moonshot.ai/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_demanded: true,
        reasoning_as: 'thinking',
        sampling: 'none',
        penalties: false,
        schemas: 'kimi',
        include_usage: true,
      },
    },
    {
      format: 'messages',
      baseUrl: 'https://api.moonshot.ai/anthropic',
      dialect: { ...PLAIN_MESSAGES, schemas: 'kimi' },
    },
  ],
}

/**
 * Qwen on Alibaba Cloud outside China ("Deep thinking", alibabacloud.com/help/en/model-studio, read on 2026-11-28). It
 * embeds at most 10 inputs per request (docs/wire/embeddings.md#openai).
 */
export const dashscope: Preset = {
  name: 'dashscope',
  env: ['DASHSCOPE_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_as: 'enable_thinking',
        forced_while_thinking: false,
        whole_thinking: false,
        limit_field: 'max_tokens',
        include_usage: true,
        video: true,
        // Parts of the type `file` are refused (pydantic-ai 2.68, `providers/alibaba.py`, read on 2026-12-01).
        files: false,
      },
    },
    {
      format: 'embeddings',
      baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      dialect: { batch: 10, tokens: false },
    },
  ],
}

/**
 * MiniMax writes reasoning into the text unless asked to separate the two (platform.minimax.io/docs, "OpenAI compatible
 * API", read on 2026-11-28). It takes one system message, at the start: "invalid chat setting", "invalid message role:
 * system" (MiniMax-M2#51, openclaw#19386, CodexPlusPlus#410, read on 2026-12-01).
 */
export const minimax: Preset = {
  name: 'minimax',
  env: ['MINIMAX_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.minimax.io/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_as: 'thinking',
        thinking_on: 'adaptive',
        reasoning_split: true,
        system_turns: false,
        temperatures: 'above_0',
        odd_arguments: false,
        include_usage: true,
      },
    },
    {
      format: 'messages',
      baseUrl: 'https://api.minimax.io/anthropic',
      // A budget puts the reasoning into the text ("Anthropic API", platform.minimax.io; pi#6658, oh-my-pi#2928).
      dialect: { ...PLAIN_MESSAGES, thinking: 'adaptive', efforts: [] },
    },
  ],
}
