import { CLAUDE_CODE_AT_CLOUDS, claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { codexHttp, codexSocket, codexUnknown } from './codex.ts'
import { COMPILED } from './compiled.ts'
import { COPILOT } from './copilot.ts'
import { geminiCli } from './gemini-cli.ts'
import { CLOUDS_JS, JAVASCRIPT } from './javascript.ts'
import { opencodeChat, opencodeContents, opencodeMessages, opencodeResponses } from './opencode.ts'
import { PI } from './pi.ts'
import { AGNO, AWS_PYTHON, LITELLM, MISTRAL, PYTHON, SEMANTIC_KERNEL } from './python.ts'
import { QWEN_CODE } from './qwen-code.ts'

export const CLIENTS: readonly Client[] = [
  claudeCode,
  ...CLAUDE_CODE_AT_CLOUDS,
  ...[codexHttp, codexSocket, codexUnknown],
  geminiCli,
  ...[opencodeChat, opencodeResponses, opencodeMessages, opencodeContents],
  ...QWEN_CODE,
  ...COPILOT,
  ...PI,
  ...PYTHON,
  ...AWS_PYTHON,
  ...LITELLM,
  ...MISTRAL,
  ...JAVASCRIPT,
  ...CLOUDS_JS,
  ...SEMANTIC_KERNEL,
  ...COMPILED,
  ...AGNO,
]
