import { claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { codexHttp, codexSocket, codexUnknown } from './codex.ts'
import { COMPILED } from './compiled.ts'
import { geminiCli } from './gemini-cli.ts'
import { JAVASCRIPT } from './javascript.ts'
import { opencodeChat, opencodeContents, opencodeMessages, opencodeResponses } from './opencode.ts'
import { LITELLM, PYTHON, SEMANTIC_KERNEL } from './python.ts'

export const CLIENTS: readonly Client[] = [
  claudeCode,
  ...[codexHttp, codexSocket, codexUnknown],
  geminiCli,
  ...[opencodeChat, opencodeResponses, opencodeMessages, opencodeContents],
  ...PYTHON,
  ...LITELLM,
  ...JAVASCRIPT,
  ...SEMANTIC_KERNEL,
  ...COMPILED,
]
