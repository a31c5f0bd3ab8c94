import { dashscopeChat } from './dashscope.ts'
import { deepseekChat, deepseekMessages } from './deepseek.ts'
import { groqChat } from './groq.ts'
import { minimaxChat, minimaxMessages } from './minimax.ts'
import { moonshotChat, moonshotMessages } from './moonshot.ts'
import type { StrictVendor } from './vendor.ts'
import { zaiChat } from './zai.ts'

export const VENDORS: readonly StrictVendor[] = [
  dashscopeChat,
  deepseekChat,
  deepseekMessages,
  groqChat,
  minimaxChat,
  minimaxMessages,
  moonshotChat,
  moonshotMessages,
  zaiChat,
]
