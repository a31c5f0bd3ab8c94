import { chat } from './chat.ts'
import { cohereChat } from './cohere-chat.ts'
import { contents, gemini3 } from './contents.ts'
import { converse } from './converse.ts'
import { deepseek } from './deepseek.ts'
import { messages, messagesBudget } from './messages.ts'
import { plainResponses } from './plain-responses.ts'
import { responses } from './responses.ts'
import type { StrictUpstream } from './strict.ts'

export const UPSTREAMS: readonly StrictUpstream[] = [
  ...[chat, deepseek, responses, plainResponses, messages, messagesBudget, contents, gemini3, cohereChat, converse],
]
