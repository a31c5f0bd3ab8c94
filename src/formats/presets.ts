import type { Preset } from './preset.ts'
import {
  azureDeployments,
  azureFoundry,
  bedrock,
  bedrockMantle,
  claudeAws,
  vertex,
  vertexClaude,
  vertexExpress,
} from './vendors/clouds.ts'
import {
  cerebras,
  dashscope,
  deepgram,
  deepseek,
  groq,
  huggingface,
  minimax,
  mistral,
  moonshot,
  openrouter,
  together,
  xai,
  zai,
} from './vendors/compatible.ts'
import { custom, mock, ollama, vllm } from './vendors/local.ts'
import { anthropic, azure, elevenlabs, google, kling, openai } from './vendors/makers.ts'
import { cohere, jina, voyage } from './vendors/retrieval.ts'

/** Every vendor, in the order of preference of a gateway without a config. */
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
    bedrockMantle,
    claudeAws,
    vertex,
    vertexExpress,
    vertexClaude,
    azureDeployments,
    azureFoundry,
    ollama,
    vllm,
    custom,
    mock,
  ].map(preset => [preset.name, preset]),
)
