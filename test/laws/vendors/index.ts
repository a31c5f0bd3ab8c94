import { groqChat } from './groq.ts'
import { minimaxChat } from './minimax.ts'
import { moonshotChat, moonshotMessages } from './moonshot.ts'
import type { StrictVendor } from './vendor.ts'

export const VENDORS: readonly StrictVendor[] = [groqChat, minimaxChat, moonshotChat, moonshotMessages]
