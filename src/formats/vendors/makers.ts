import type { ModelFamily } from '../channel-format.ts'
import { CALLERS_VERSION } from '../dialects/messages.ts'
import { openaiFormats } from '../openai-formats.ts'
import type { Preset } from '../preset.ts'
import { OPENAI_FUNCTION_MODELS, OPENAI_RESPONSES_MODELS } from '../responses-models.ts'
import { ELEVENLABS_DEFAULT_VOICE, ELEVENLABS_VOICES, GOOGLE_VOICES } from '../voices.ts'

/* Presets of vendors that define formats. */

const OPENAI_MEDIA = ['completions', 'images', 'speech', 'transcriptions', 'videos'] as const
/** OpenAI embeds at most 2048 inputs and 300,000 tokens per request (docs/wire/embeddings.md#openai). */
export const OPENAI_EMBEDDINGS = { dimensions_field: 'dimensions', batch: 2048, batch_tokens: 300_000 } as const
/** Deployments at Azure have any name, and serve GPT image models only since DALL·E was shut down. */
export const AZURE_IMAGES = { edits: 'form', gpt_image: true } as const
/**
 * OpenAI refuses results of tools with other parts than texts. Newer models ignore them and invent what an image shows
 * (openai/openai-openapi#523, llxprt-code#1640). OpenAI also refuses the empty `tool_calls` that vLLM answers ("empty
 * array. Expected an array with minimum length 1", openai-node#1341, chatbox#2079). Read on 2026-12-01.
 */
export const OPENAI_HISTORY = { result_media: false, empty_calls: false } as const
const OPENAI_CHAT = {
  ...OPENAI_HISTORY,
  include_usage: true,
  reasoning_as: 'reasoning_effort',
  cache: 'prompt_cache_breakpoint',
} as const

export const openai: Preset = {
  name: 'openai',
  env: ['OPENAI_API_KEY'],
  formats: [
    { format: 'responses', baseUrl: 'https://api.openai.com/v1', dialect: { cache: 'prompt_cache_breakpoint' } },
    {
      format: 'chat',
      baseUrl: 'https://api.openai.com/v1',
      avoidedModels: OPENAI_RESPONSES_MODELS,
      functionModels: { ...OPENAI_FUNCTION_MODELS, host: 'api.openai.com' },
      dialect: OPENAI_CHAT,
    },
    { format: 'realtime', baseUrl: 'https://api.openai.com/v1' },
    { format: 'embeddings', baseUrl: 'https://api.openai.com/v1', dialect: OPENAI_EMBEDDINGS },
    ...openaiFormats('https://api.openai.com/v1', OPENAI_MEDIA),
  ],
}

export const anthropic: Preset = {
  name: 'anthropic',
  env: ['ANTHROPIC_API_KEY'],
  betas: 'allow',
  formats: [
    {
      format: 'messages',
      baseUrl: 'https://api.anthropic.com',
      dialect: { cache: 'auto', threads: true, version: CALLERS_VERSION, key_as: 'version' },
    },
  ],
}

export const google: Preset = {
  name: 'google',
  env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  formats: [
    {
      format: 'contents',
      baseUrl: 'https://generativelanguage.googleapis.com',
      dialect: { schema: 'json', batch: 100, voices: GOOGLE_VOICES },
    },
    {
      format: 'interactions',
      baseUrl: 'https://generativelanguage.googleapis.com',
      dialect: { voices: GOOGLE_VOICES },
    },
    { format: 'veo', baseUrl: 'https://generativelanguage.googleapis.com' },
    {
      format: 'live',
      baseUrl: 'https://generativelanguage.googleapis.com',
      dialect: { voices: GOOGLE_VOICES },
    },
    {
      format: 'embeddings',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      auth: 'bearer',
      dialect: { batch: 100, tokens: false },
    },
  ],
}

/**
 * Models of other makers at Azure, which refuse fields of OpenAI's caches, also from Codex and Zed
 * (egress/chat/refused-fields.ts). DeepSeek takes three efforts (pi#9645, read on 2026-12-01).
 */
export const AZURE_FAMILIES: readonly ModelFamily[] = [
  {
    name: /(?<![a-z0-9])deepseek/,
    dialect: { request_fields: 'azure', efforts: ['low', 'medium', 'high'] },
    native: true,
  },
  {
    // Deployments of OpenAI's models may have any name, such as `delphi-4`.
    name: /(?<![a-z0-9])(?:kimi|grok|mistral|ministral|codestral|(?:code)?llama|phi-\d|cohere(?![a-z])|command-[ar](?![a-z])|qwen|glm|minimax|jamba|gpt-oss)/,
    dialect: { request_fields: 'azure' },
    native: true,
  },
]

/** Azure's `/openai/v1` API accepts the same requests as OpenAI's, with the deployment name as the model. */
export const azure: Preset = {
  name: 'azure-openai',
  env: ['AZURE_OPENAI_API_KEY'],
  addressEnv: 'AZURE_OPENAI_ENDPOINT',
  addressSuffix: '/openai/v1',
  cloud: { name: 'azure', scope: 'https://cognitiveservices.azure.com/.default' },
  formats: [
    // DeepSeek takes efforts in Chat Completions only: "'reasoning.effort' is not supported with this model" (pi#9645).
    { format: 'responses', auth: 'api-key', avoidedModels: /deepseek/i },
    {
      ...{ format: 'chat', auth: 'api-key', avoidedModels: OPENAI_RESPONSES_MODELS },
      ...{ functionModels: OPENAI_FUNCTION_MODELS, dialect: { ...OPENAI_HISTORY, include_usage: true } },
      families: AZURE_FAMILIES,
    },
    { format: 'realtime', auth: 'api-key' },
    { format: 'embeddings', auth: 'api-key', dialect: OPENAI_EMBEDDINGS },
    { format: 'images', auth: 'api-key', dialect: AZURE_IMAGES },
    { format: 'speech', auth: 'api-key' },
    { format: 'videos', auth: 'api-key' },
  ],
}

/** ElevenLabs offers speech with its own voices, and transcription. */
export const elevenlabs: Preset = {
  name: 'elevenlabs',
  env: ['ELEVENLABS_API_KEY'],
  formats: [
    {
      format: 'elevenlabs',
      baseUrl: 'https://api.elevenlabs.io',
      dialect: { voices: ELEVENLABS_VOICES, default_voice: ELEVENLABS_DEFAULT_VOICE },
    },
  ],
}

/** Deepgram offers transcription. */
export const deepgram: Preset = {
  name: 'deepgram',
  env: ['DEEPGRAM_API_KEY'],
  formats: [{ format: 'deepgram', baseUrl: 'https://api.deepgram.com' }],
}

/**
 * Kling offers video generation. The key is `access key:secret`, or a token that is sent unchanged. Kling does not list
 * its models.
 */
export const kling: Preset = {
  name: 'kling',
  env: ['KLING_API_KEY'],
  models: [
    ...['kling-v3', 'kling-v2-6', 'kling-v2-5-turbo', 'kling-v2-1-master', 'kling-v2-1', 'kling-v2-master'],
    ...['kling-v1-6', 'kling-v1-5', 'kling-v1'],
  ],
  formats: [{ format: 'kling', baseUrl: 'https://api-singapore.klingai.com' }],
}
