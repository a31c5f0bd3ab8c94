import { deepseekMessages } from './deepseek.ts'
import { groqChat } from './groq.ts'
import { minimaxChat, minimaxMessages } from './minimax.ts'
import { moonshotChat, moonshotMessages } from './moonshot.ts'
import type { StrictVendor } from './vendor.ts'
import { zaiChat } from './zai.ts'

export const VENDORS: readonly StrictVendor[] = [
  deepseekMessages,
  groqChat,
  minimaxChat,
  minimaxMessages,
  moonshotChat,
  moonshotMessages,
  zaiChat,
]
