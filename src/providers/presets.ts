import type { Format } from '../canonical/node.ts'
import { PLAIN_CHAT } from './dialects.ts'
import type { Preset, PresetFormat } from './preset.ts'

/** Every format of OpenAI's family below one address; conversation formats are listed by the vendors themselves. */
const family = (baseUrl: string | undefined, formats: readonly Format[]): PresetFormat[] =>
  formats.map(format => (baseUrl === undefined ? { format } : { format, baseUrl }))

const OPENAI_MEDIA = ['completions', 'embeddings', 'images', 'videos', 'speech', 'transcriptions', 'realtime'] as const
const OPENAI_CHAT = { include_usage: true, cache: 'prompt_cache_breakpoint' } as const

const openai: Preset = {
  name: 'openai',
  env: ['OPENAI_API_KEY'],
  formats: [
    { format: 'responses', baseUrl: 'https://api.openai.com/v1' },
    { format: 'chat', baseUrl: 'https://api.openai.com/v1', dialect: OPENAI_CHAT },
    ...family('https://api.openai.com/v1', OPENAI_MEDIA),
  ],
}

const anthropic: Preset = {
  name: 'anthropic',
  env: ['ANTHROPIC_API_KEY'],
  betas: 'allow',
  formats: [{ format: 'messages', baseUrl: 'https://api.anthropic.com' }],
}

const google: Preset = {
  name: 'google',
  env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  formats: [
    { format: 'contents', baseUrl: 'https://generativelanguage.googleapis.com', dialect: { schema: 'json' } },
    { format: 'embeddings', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', auth: 'bearer' },
  ],
}

/** Its `/openai/v1` surface takes what OpenAI's own address takes, with the deployment's name as the model. */
const azure: Preset = {
  name: 'azure-openai',
  env: ['AZURE_OPENAI_API_KEY'],
  addressEnv: 'AZURE_OPENAI_ENDPOINT',
  addressSuffix: '/openai/v1',
  formats: [
    { format: 'responses', auth: 'api-key' },
    { format: 'chat', auth: 'api-key', dialect: { include_usage: true } },
    { format: 'embeddings', auth: 'api-key' },
    { format: 'images', auth: 'api-key' },
  ],
}

const openrouter: Preset = {
  name: 'openrouter',
  env: ['OPENROUTER_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://openrouter.ai/api/v1',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning',
        reasoning_as: 'reasoning',
        cache: 'cache_control',
        limit_field: 'max_tokens',
        include_usage: true,
      },
    },
    { format: 'responses', baseUrl: 'https://openrouter.ai/api/v1', dialect: { stateless: true } },
    { format: 'messages', baseUrl: 'https://openrouter.ai/api', auth: 'bearer' },
    { format: 'embeddings', baseUrl: 'https://openrouter.ai/api/v1' },
  ],
}

/** Wants its thoughts back on turns with tool calls (trap 35). */
const deepseek: Preset = {
  name: 'deepseek',
  env: ['DEEPSEEK_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.deepseek.com',
      dialect: {
        ...PLAIN_CHAT,
        reasoning_field: 'reasoning_content',
        reasoning_as: 'thinking',
        limit_field: 'max_tokens',
        text_only_content: 'string',
        json_schema: false,
        include_usage: true,
      },
    },
    { format: 'messages', baseUrl: 'https://api.deepseek.com/anthropic' },
    { format: 'responses', baseUrl: 'https://api.deepseek.com', dialect: { stateless: true } },
  ],
}

const groq: Preset = {
  name: 'groq',
  env: ['GROQ_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.groq.com/openai/v1',
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning', include_usage: true },
    },
    { format: 'responses', baseUrl: 'https://api.groq.com/openai/v1', dialect: { stateless: true } },
    ...family('https://api.groq.com/openai/v1', ['speech', 'transcriptions']),
  ],
}

/** Refuses fields it does not know; usage comes with the last chunk unasked. */
const mistral: Preset = {
  name: 'mistral',
  env: ['MISTRAL_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.mistral.ai/v1',
      dialect: { ...PLAIN_CHAT, limit_field: 'max_tokens', include_usage: false },
    },
    ...family('https://api.mistral.ai/v1', ['embeddings', 'transcriptions']),
  ],
}

const xai: Preset = {
  name: 'xai',
  env: ['XAI_API_KEY'],
  formats: [
    { format: 'responses', baseUrl: 'https://api.x.ai/v1' },
    {
      format: 'chat',
      baseUrl: 'https://api.x.ai/v1',
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning_content', include_usage: true },
    },
    ...family('https://api.x.ai/v1', ['images']),
  ],
}

const together: Preset = {
  name: 'together',
  env: ['TOGETHER_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.together.xyz/v1',
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning', limit_field: 'max_tokens', include_usage: true },
    },
    ...family('https://api.together.xyz/v1', ['completions', 'embeddings', 'rerank', 'images', 'speech']),
  ],
}

/** Wants its thoughts back (trap 35). */
const zai: Preset = {
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
        include_usage: true,
      },
    },
    { format: 'messages', baseUrl: 'https://api.z.ai/api/anthropic' },
  ],
}

const cerebras: Preset = {
  name: 'cerebras',
  env: ['CEREBRAS_API_KEY'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://api.cerebras.ai/v1',
      dialect: { ...PLAIN_CHAT, reasoning_field: 'reasoning', text_only_content: 'string', include_usage: true },
    },
  ],
}

/** One address for the inference vendors behind it. */
const huggingface: Preset = {
  name: 'huggingface',
  env: ['HF_TOKEN'],
  formats: [
    {
      format: 'chat',
      baseUrl: 'https://router.huggingface.co/v1',
      dialect: { ...PLAIN_CHAT, limit_field: 'max_tokens', include_usage: true },
    },
    { format: 'responses', baseUrl: 'https://router.huggingface.co/v1', dialect: { stateless: true } },
  ],
}

const LOCAL_CHAT = { ...PLAIN_CHAT, reasoning_field: 'reasoning', limit_field: 'max_tokens', include_usage: true }

const ollama: Preset = {
  name: 'ollama',
  env: [],
  keyless: true,
  formats: [
    { format: 'chat', baseUrl: 'http://127.0.0.1:11434/v1', dialect: LOCAL_CHAT },
    { format: 'responses', baseUrl: 'http://127.0.0.1:11434/v1', dialect: { stateless: true } },
    { format: 'messages', baseUrl: 'http://127.0.0.1:11434' },
    ...family('http://127.0.0.1:11434/v1', ['completions', 'embeddings']),
  ],
}

const vllm: Preset = {
  name: 'vllm',
  env: [],
  keyless: true,
  formats: [
    { format: 'chat', baseUrl: 'http://127.0.0.1:8000/v1', dialect: LOCAL_CHAT },
    { format: 'responses', baseUrl: 'http://127.0.0.1:8000/v1', dialect: { stateless: true } },
    ...family('http://127.0.0.1:8000/v1', ['completions', 'embeddings', 'rerank', 'transcriptions']),
  ],
}

/** An upstream only its operator knows. */
const custom: Preset = { name: 'custom', env: [], keyless: true, betas: 'allow', formats: [] }

/** The built-in upstream that answers from recorded fixtures; its address is known once it runs. */
const replay: Preset = {
  name: 'replay',
  env: [],
  keyless: true,
  betas: 'allow',
  models: ['replay'],
  formats: ['chat', 'responses', 'messages', 'contents'].map(format => ({ format, auth: 'none' })),
}

/** Every vendor, in the order a gateway without a config prefers them. */
export const PRESETS: ReadonlyMap<string, Preset> = new Map(
  [
    openai,
    anthropic,
    google,
    azure,
    xai,
    deepseek,
    mistral,
    groq,
    together,
    cerebras,
    zai,
    huggingface,
    openrouter,
    ollama,
    vllm,
    custom,
    replay,
  ].map(preset => [preset.name, preset]),
)
