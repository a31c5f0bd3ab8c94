import { anthropicMessages } from './anthropic.ts'
import { azureChat } from './azure.ts'
import { cerebrasChat } from './cerebras.ts'
import { bedrockMessages, bedrockResponses, foundryMessages, vertexMessages } from './clouds.ts'
import { dashscopeChat } from './dashscope.ts'
import { deepseekChat, deepseekMessages } from './deepseek.ts'
import { fireworksChat } from './fireworks.ts'
import { googleContents } from './google.ts'
import { groqChat } from './groq.ts'
import { arkChat, arkResponses, mimoChat, perplexityChat, qianfanChat, sambanovaChat } from './known-hosts.ts'
import { llamaCppChat, lmStudioChat } from './local-servers.ts'
import { minimaxChat, minimaxMessages } from './minimax.ts'
import { mistralChat } from './mistral.ts'
import { moonshotChat, moonshotMessages } from './moonshot.ts'
import { nvidiaChat } from './nvidia.ts'
import { ollamaChat, ollamaResponses } from './ollama.ts'
import { openaiChat, openaiResponses } from './openai.ts'
import { openrouterResponses } from './openrouter.ts'
import type { StrictVendor } from './vendor.ts'
import { vllmChat, vllmResponses } from './vllm.ts'
import { xaiChat, xaiResponses } from './xai.ts'
import { zaiChat } from './zai.ts'

export const VENDORS: readonly StrictVendor[] = [
  ...[...bedrockMessages, bedrockResponses, foundryMessages, vertexMessages],
  ...[deepseekChat, deepseekMessages, minimaxChat, minimaxMessages, moonshotChat, moonshotMessages],
  ...[anthropicMessages, googleContents, openaiChat, openaiResponses],
  ...[cerebrasChat, dashscopeChat, groqChat, mistralChat, openrouterResponses, xaiChat, xaiResponses, zaiChat],
  ...[
    arkChat,
    arkResponses,
    azureChat,
    fireworksChat,
    mimoChat,
    nvidiaChat,
    perplexityChat,
    qianfanChat,
    sambanovaChat,
  ],
  ...[llamaCppChat, lmStudioChat, ollamaChat, ollamaResponses, vllmChat, vllmResponses],
]
