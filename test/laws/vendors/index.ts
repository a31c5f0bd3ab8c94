import { cerebrasChat } from './cerebras.ts'
import { bedrockMessages, bedrockResponses, foundryMessages, vertexMessages } from './clouds.ts'
import { groqChat } from './groq.ts'
import { llamaCppChat, lmStudioChat } from './local-servers.ts'
import { minimaxChat } from './minimax.ts'
import { mistralChat } from './mistral.ts'
import { ollamaChat, ollamaResponses } from './ollama.ts'
import { openrouterResponses } from './openrouter.ts'
import type { StrictVendor } from './vendor.ts'
import { vllmChat, vllmResponses } from './vllm.ts'
import { xaiChat, xaiResponses } from './xai.ts'

export const VENDORS: readonly StrictVendor[] = [
  ...[...bedrockMessages, bedrockResponses, foundryMessages, vertexMessages],
  ...[cerebrasChat, groqChat, minimaxChat, mistralChat, openrouterResponses, xaiChat, xaiResponses],
  ...[llamaCppChat, lmStudioChat, ollamaChat, ollamaResponses, vllmChat, vllmResponses],
]
