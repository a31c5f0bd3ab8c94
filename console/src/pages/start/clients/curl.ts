import { requestOf } from '../trial/request.ts'
import type { Client, Format } from './client.ts'
import { PROMPT } from './library.ts'
import { json, word } from './quote.ts'

/** Headers with the key that each format requires. */
const HEADERS: { readonly [F in Format]: (secret: string) => readonly string[] } = {
  chat: secret => [`authorization: Bearer ${secret}`],
  responses: secret => [`authorization: Bearer ${secret}`],
  messages: secret => [`x-api-key: ${secret}`, 'anthropic-version: 2023-06-01'],
  contents: secret => [`x-goog-api-key: ${secret}`],
}

/** curl, with one request per format. */
export const curl: Client = {
  ...{ id: 'curl', name: 'curl', group: 'terminal' },
  formats: ['chat', 'responses', 'messages', 'contents'],
  write: ({ base, secret, model, format }) => {
    const { path, body } = requestOf(format, model, PROMPT, false)
    const headers = [...HEADERS[format](secret), 'content-type: application/json']
    const lines = [
      `curl ${word(base + path)}`,
      ...headers.map(header => `  -H ${word(header)}`),
      `  -d ${word(json(body))}`,
    ]
    return [{ syntax: 'shell', text: `${lines.join(' \\\n')}\n` }]
  },
}
