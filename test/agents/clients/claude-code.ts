import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client } from './client.ts'
import { BUDGETED } from './thinking.ts'

/** Claude Code: the messages format, with its own tools for files and without confirmations. */
export const claudeCode: Client = {
  name: 'claude-code',
  package: 'claude-code',
  model: 'claude-opus-4-8',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['Bash', 'Edit', 'Read', 'Write', 'Agent'],
  read: path => ({ tool: 'Read', arguments: { file_path: path } }),
  write: (path, content) => ({ tool: 'Write', arguments: { file_path: path, content } }),
  command: ({ address, key, model }, installed) => ({
    run: [
      join(installed, `node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude`),
      ...['-p', PROMPT, '--permission-mode', 'acceptEdits', '--allowedTools', 'Read Write Edit Bash'],
    ],
    env: {
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
}
