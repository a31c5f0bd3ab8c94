import type { Client, Values } from './client.ts'
import { exported, json } from './quote.ts'

/** Claude Code appends the version to its base URL. Besides the main model it calls a small one, such as for titles. */
const variables = ({ base, secret, model }: Values) => ({
  ANTHROPIC_BASE_URL: base,
  ANTHROPIC_AUTH_TOKEN: secret,
  ANTHROPIC_MODEL: model,
  ANTHROPIC_SMALL_FAST_MODEL: model,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
})

/** Claude Code, configured by environment variables or its settings file. */
export const claudeCode: Client = {
  ...{ id: 'claude-code', name: 'Claude Code', group: 'agents' },
  formats: ['messages'],
  write: values => [
    { role: 'once', syntax: 'shell', text: `${exported(variables(values))}claude\n` },
    { role: 'always', file: '~/.claude/settings.json', syntax: 'json', text: `${json({ env: variables(values) })}\n` },
  ],
}
