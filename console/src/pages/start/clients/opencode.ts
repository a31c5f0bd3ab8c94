import type { Client, Format } from './client.ts'
import { json, word } from './quote.ts'

/** AI SDK package of each format, and the path at the end of its base URL. */
const PROVIDERS: { readonly [F in Format]: readonly [npm: string, version: string] } = {
  chat: ['@ai-sdk/openai-compatible', '/v1'],
  responses: ['@ai-sdk/openai', '/v1'],
  messages: ['@ai-sdk/anthropic', '/v1'],
  contents: ['@ai-sdk/google', '/v1beta'],
}

/** opencode, configured by its JSON file. */
export const opencode: Client = {
  ...{ id: 'opencode', name: 'opencode', group: 'agents' },
  formats: ['chat', 'responses', 'messages', 'contents'],
  write: ({ base, secret, model, format }) => {
    const [npm, version] = PROVIDERS[format]
    const options = { baseURL: base + version, apiKey: secret }
    const provider = { interlingua: { npm, name: 'Interlingua', options, models: { [model]: {} } } }
    return [
      { role: 'config', file: 'opencode.json', syntax: 'json', text: `${json({ share: 'disabled', provider })}\n` },
      { role: 'run', syntax: 'shell', text: `opencode -m ${word(`interlingua/${model}`)}\n` },
    ]
  },
}
