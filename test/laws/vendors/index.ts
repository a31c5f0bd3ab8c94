import { cerebrasChat } from './cerebras.ts'
import { groqChat } from './groq.ts'
import { minimaxChat } from './minimax.ts'
import { mistralChat } from './mistral.ts'
import { openrouterResponses } from './openrouter.ts'
import type { StrictVendor } from './vendor.ts'
import { xaiChat, xaiResponses } from './xai.ts'

export const VENDORS: readonly StrictVendor[] = [
  cerebrasChat,
  groqChat,
  minimaxChat,
  mistralChat,
  openrouterResponses,
  xaiChat,
  xaiResponses,
]
