import type { Preset } from './preset.ts'
import {
  azureDeployments,
  azureFoundry,
  bedrock,
  bedrockConverse,
  bedrockInvoke,
  bedrockMantle,
  claudeAws,
  vertex,
  vertexClaude,
  vertexExpress,
} from './vendors/clouds.ts'
import { dashscope, deepseek, minimax, mistral, moonshot, openrouter, xai, zai } from './vendors/compatible.ts'
import { cerebras, fireworks, groq, huggingface, nvidia, together } from './vendors/hosts.ts'
import { custom, llamaCpp, lmStudio, ollama, replay, vllm } from './vendors/local.ts'
import { anthropic, azure, deepgram, elevenlabs, google, kling, openai } from './vendors/makers.ts'
import { cohere, jina, voyage } from './vendors/retrieval.ts'

/** All vendors, in order of preference for a gateway without a config. */
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
    fireworks,
    nvidia,
    cerebras,
    zai,
    moonshot,
    dashscope,
    minimax,
    elevenlabs,
    deepgram,
    kling,
    huggingface,
    openrouter,
    cohere,
    voyage,
    jina,
    bedrock,
    bedrockConverse,
    bedrockInvoke,
    bedrockMantle,
    claudeAws,
    vertex,
    vertexExpress,
    vertexClaude,
    azureDeployments,
    azureFoundry,
    ollama,
    vllm,
    llamaCpp,
    lmStudio,
    custom,
    replay,
  ].map(preset => [preset.name, preset]),
)
