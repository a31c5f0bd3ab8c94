import type { ModelFamily } from '../channel-format.ts'
import { PLAIN_CHAT } from '../dialects/chat.ts'
import { PLAIN_MESSAGES } from '../dialects/messages.ts'
import { PLAIN_RESPONSES } from '../dialects/responses.ts'
import { openaiFormats } from '../openai-formats.ts'
import type { Preset } from '../preset.ts'

/* Presets of vendors that host open models. */

/**
 * Efforts of models at Fireworks (`reasoning_effort` in fireworks-ai 1.2.30, PyPI, and in api-evangelist/fireworks-ai,
 * `openapi/`, which take no `minimal`; `xhigh`: FIREWORKS_REASONING_EFFORTS of deepagents-code, read on 2026-12-01). The
 * models of the first three rows always reason; "GLM-5.3 is a thinking-only model" with two efforts: pi#8932, read on
 * 2026-12-01.
 */
const FIREWORKS_FAMILIES: readonly ModelFamily[] = [
  { name: /gpt-oss|minimax-m2/, dialect: { efforts: ['low', 'medium', 'high'] } },
  { name: /glm-(?:5[.p][3-9]|[6-9])/, dialect: { efforts: ['high', 'max'] } },
  { name: /kimi-k2[.p]7-code/, dialect: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  { name: /^/, dialect: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] } },
]

/**
 * Models at NVIDIA whose switch is in `chat_template_kwargs` (cherry-studio#13846, pi-free#217, oh-my-pi#2299, the preset
 * `nvidia` of oh-my-pi 18.2.11). DeepSeek takes `reasoning_effort` (hermes-agent#19888), and Mistral refuses the former
 * (free-claude-code#89). Read on 2026-12-01.
 */
const NVIDIA_FAMILIES: readonly ModelFamily[] = [
  { name: /qwen|glm|nemotron/, dialect: { reasoning_as: 'chat_template_kwargs' } },
]

/**
 * Fireworks refuses every field that it does not know, also in messages: "Extra inputs are not permitted, field: …"
 * (vercel/ai#18306, FlowiseAI/Flowise#2866), and files (LiteLLM 1.110.2, `llms/fireworks_ai`). Its schemas take the
 * fields that `egress/chat/known-messages.ts` lists. Read on 2026-12-01.
 */
export const fireworks: Preset = {
  name: 'fireworks',
  env: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        request_fields: 'fireworks',
        limit_field: 'max_tokens',
        include_usage: true,
        files: false,
        video: true,
      },
      families: FIREWORKS_FAMILIES,
    },
    {
      format: 'messages',
      baseUrl: 'https://api.fireworks.ai/inference',
      auth: 'bearer',
      dialect: { ...PLAIN_MESSAGES, files: false },
    },
    {
      format: 'responses',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      dialect: { ...PLAIN_RESPONSES, files: false },
    },
    ...openaiFormats('https://api.fireworks.ai/inference/v1', ['completions']),
    { format: 'embeddings', baseUrl: 'https://api.fireworks.ai/inference/v1', dialect: { tokens: false } },
  ],
}

/**
 * NVIDIA's hosted models have closed schemas ("additionalProperties: false", oh-my-pi#2299): "Unsupported parameter(s):
 * `prompt_cache_key`" (OmniRoute#848, picoclaw#1019), "`thinking`", "`reasoning_budget`" (free-claude-code#127). Embeddings
 * need a purpose and know only theirs. Read on 2026-12-01.
 */
export const nvidia: Preset = {
  name: 'nvidia',
  env: ['NVIDIA_API_KEY', 'NVIDIA_NIM_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://integrate.api.nvidia.com/v1',
      dialect: {
        ...PLAIN_CHAT,
        request_fields: 'nvidia',
        limit_field: 'max_tokens',
        include_usage: true,
        files: false,
      },
      families: NVIDIA_FAMILIES,
    },
    {
      format: 'embeddings',
      baseUrl: 'https://integrate.api.nvidia.com/v1',
      dialect: {
        ...{ purpose_field: 'input_type', default_purpose: 'query', document_word: 'passage', end_user: false },
        tokens: false,
      },
    },
  ],
}

/**
 * Groq refuses `response_format` beside tools: "json mode cannot be combined with tool/function calling"
 * (agno-agi/agno#1065, vercel/ai#16540, read on 2026-12-01).
 */
export const groq: Preset = {
  name: 'groq',
  env: ['GROQ_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.groq.com/openai/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning',
        reasoning_as: 'reasoning_effort',
        request_fields: 'groq',
        schemas: 'groq',
        json_with_tools: false,
        include_usage: true,
      },
      // "`reasoning_effort` must be one of `none` or `default`" and "not supported with this model"
      // (earendil-works/pi#1745, iamsrikanthnani/pluely#219); "This model does not support response format `json_schema`"
      // (plune-ai/cairn#36, ItzCrazyKns/Vane#980), read on 2026-12-01.
      families: [
        { name: /llama-4|kimi-k2-instruct/, dialect: { efforts: [] } },
        { name: /llama|qwen-?3-32b/, dialect: { efforts: [], json_schema: false } },
      ],
    },
    { format: 'responses', baseUrl: 'https://api.groq.com/openai/v1', dialect: PLAIN_RESPONSES },
    // "response_format must be one of [wav]" (EKKOLearnAI/hermes-studio#2328, August 2026).
    {
      format: 'speech',
      baseUrl: 'https://api.groq.com/openai/v1',
      dialect: { speech_events: false, wav_only: true },
    },
    {
      format: 'transcriptions',
      baseUrl: 'https://api.groq.com/openai/v1',
      // "unknown param `stream`", whatever its value (SubtitleEdit/subtitleedit#11123, roryeckel/wyoming_openai#39).
      dialect: { transcript_shapes: 'json', transcript_events: false, transcript_fields: 'groq' },
    },
  ],
}

export const together: Preset = {
  name: 'together',
  env: ['TOGETHER_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.together.xyz/v1',
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning', limit_field: 'max_tokens', include_usage: true },
    },
    // `prompt: Required[str]` of `CompletionCreateParams` in together 3.1.1 (PyPI, read on 2026-12-01).
    {
      format: 'completions',
      baseUrl: 'https://api.together.xyz/v1',
      dialect: { include_usage: true, prompts: 'one' },
    },
    // `top_n` of `RerankCreateParams` in together 3.1.1 (PyPI); there is no `top_k`.
    { format: 'rerank', baseUrl: 'https://api.together.xyz/v1', dialect: { top_field: 'top_n' } },
    // Together refuses `user` and `dimensions` with 400 (ogx-ai/ogx#3559, September 2025; together 3.1.1, PyPI).
    {
      format: 'embeddings',
      baseUrl: 'https://api.together.xyz/v1',
      dialect: { end_user: false, tokens: false, dimensions_field: 'none' },
    },
    {
      format: 'images',
      baseUrl: 'https://api.together.xyz/v1',
      // `response_format` is base64 or url (the default), `output_format` jpeg or png (`ImageGenerateParams` there).
      dialect: {
        ...{ size_field: 'width', edits: 'image_url', response_format: true },
        ...{ bytes_word: 'base64', output_types: 'png_jpeg' },
      },
    },
    // `response_format` is mp3, wav or raw (`SpeechCreateParams` in together 3.1.1, PyPI).
    {
      format: 'speech',
      baseUrl: 'https://api.together.xyz/v1',
      dialect: { speech_events: false, raw_samples: 'raw' },
    },
  ],
}

/**
 * Some models of Cerebras refuse strict tools, and all of them tools of which some are strict ("Tools with mixed values
 * for 'strict' are not allowed", code_puppy#368; livekit/agents#3134, read on 2026-12-01). Cerebras refuses
 * `response_format` beside tools: '"tools" is incompatible with "response_format"' (BerriAI/litellm#31445, 2026-12-01).
 */
export const cerebras: Preset = {
  name: 'cerebras',
  env: ['CEREBRAS_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.cerebras.ai/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning',
        reasoning_as: 'reasoning_effort',
        request_fields: 'cerebras',
        json_with_tools: false,
        strict_tools: false,
        text_only_content: 'string',
        include_usage: true,
      },
    },
  ],
}

/** Hugging Face routes to many inference vendors at one URL. */
export const huggingface: Preset = {
  name: 'huggingface',
  env: ['HF_TOKEN'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://router.huggingface.co/v1',
      dialect: { ...PLAIN_CHAT, limit_field: 'max_tokens', include_usage: true },
    },
    { format: 'responses', baseUrl: 'https://router.huggingface.co/v1', dialect: PLAIN_RESPONSES },
  ],
}
