import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { claudeCode } from './claude-code.ts'
import type { Client, ClientGroup } from './client.ts'
import { codex } from './codex.ts'
import { curl } from './curl.ts'
import { geminiCli } from './gemini-cli.ts'
import { google } from './google.ts'
import { langchain } from './langchain.ts'
import { openai } from './openai.ts'
import { opencode } from './opencode.ts'

/** All clients, in the order of the list. */
export const CLIENTS: readonly Client[] = [
  ...[claudeCode, codex, geminiCli, opencode],
  ...[openai, anthropic, google, aiSdk, langchain],
  curl,
]

/** Groups of clients, in the order of the list. */
export const GROUPS: readonly ClientGroup[] = ['agents', 'libraries', 'terminal']
