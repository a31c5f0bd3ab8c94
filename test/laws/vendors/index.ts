import { groqChat } from './groq.ts'
import { minimaxChat } from './minimax.ts'
import { ollamaChat, ollamaResponses } from './ollama.ts'
import type { StrictVendor } from './vendor.ts'

export const VENDORS: readonly StrictVendor[] = [groqChat, minimaxChat, ollamaChat, ollamaResponses]
