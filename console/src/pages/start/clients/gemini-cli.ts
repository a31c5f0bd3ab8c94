import type { Client } from './client.ts'
import { exported, json, word } from './quote.ts'

const LOCAL = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$))/

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
}

/** Gemini CLI, configured by its settings file and environment variables. */
export const geminiCli: Client = {
  ...{ id: 'gemini-cli', name: 'Gemini CLI', group: 'agents' },
  formats: ['contents'],
  note: ({ base }) => (LOCAL.test(base) ? undefined : 'https'),
  write: ({ base, secret, model }) => [
    { role: 'config', file: '~/.gemini/settings.json', syntax: 'json', text: `${json(SETTINGS)}\n` },
    {
      role: 'run',
      syntax: 'shell',
      text: `${exported({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: secret })}gemini -m ${word(model)}\n`,
    },
  ],
}
