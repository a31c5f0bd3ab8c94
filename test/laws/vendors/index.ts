import { deepseekMessages } from './deepseek.ts'
import { groqChat } from './groq.ts'
import { minimaxChat, minimaxMessages } from './minimax.ts'
import { moonshotChat, moonshotMessages } from './moonshot.ts'
import type { StrictVendor } from './vendor.ts'

export const VENDORS: readonly StrictVendor[] = [
  deepseekMessages,
  groqChat,
  minimaxChat,
  minimaxMessages,
  moonshotChat,
  moonshotMessages,
]
