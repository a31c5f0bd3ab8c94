import { bedrockMessages, bedrockResponses, foundryMessages, vertexMessages } from './clouds.ts'
import { groqChat } from './groq.ts'
import { llamaCppChat, lmStudioChat } from './local-servers.ts'
import { minimaxChat } from './minimax.ts'
import { ollamaChat, ollamaResponses } from './ollama.ts'
import type { StrictVendor } from './vendor.ts'
import { vllmChat, vllmResponses } from './vllm.ts'

export const VENDORS: readonly StrictVendor[] = [
  ...[...bedrockMessages, bedrockResponses, foundryMessages, vertexMessages],
  ...[groqChat, llamaCppChat, lmStudioChat, minimaxChat, ollamaChat, ollamaResponses],
  ...[vllmChat, vllmResponses],
]
