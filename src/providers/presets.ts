import { custom, ollama, replay, vllm } from './local.ts'
import { anthropic, azure, elevenlabs, google, kling, openai } from './makers.ts'
import type { Preset } from './preset.ts'
import { cohere, jina, voyage } from './retrieval.ts'
import { cerebras, deepgram, deepseek, groq, huggingface, mistral, openrouter, together, xai, zai } from './vendors.ts'

/** Every vendor, in the order of preference for a gateway without a config. */
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
    elevenlabs,
    deepgram,
    kling,
    huggingface,
    openrouter,
    cohere,
    voyage,
    jina,
    ollama,
    vllm,
    custom,
    replay,
  ].map(preset => [preset.name, preset]),
)
