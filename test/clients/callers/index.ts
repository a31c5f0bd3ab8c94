import type { Caller } from '../caller.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

/** The official clients, one per format. */
export const CALLERS: readonly Caller[] = [openaiChat, openaiResponses, anthropic, google]
