import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client } from './client.ts'
import { BUDGETED } from './thinking.ts'

/** pi: OpenAI's two formats, Messages and Gemini's, each with the vendor's SDK and thinking turned on. */
const pi = (format: string, api: string, version: string): Client => ({
  name: `pi-${format}`,
  package: 'pi',
  model: 'own-model',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['read', 'bash', 'edit', 'write'],
  read: path => ({ tool: 'read', arguments: { path } }),
  write: (path, content) => ({ tool: 'write', arguments: { path, content } }),
  command: ({ home, address, key, model }, installed) => ({
    run: [
      process.execPath,
      join(installed, 'node_modules/@mariozechner/pi-coding-agent/dist/cli.js'),
      ...['--offline', '--no-session', '--thinking', 'medium', '--model', `il/${model}`, '-p', PROMPT],
    ],
    files: {
      [join(home, '.pi/agent/models.json')]: {
        providers: {
          il: { baseUrl: `${address}${version}`, api, apiKey: key, models: [{ id: model, reasoning: true }] },
        },
      },
    },
  }),
})

export const PI: readonly Client[] = [
  pi('chat', 'openai-completions', '/v1'),
  pi('responses', 'openai-responses', '/v1'),
  pi('messages', 'anthropic-messages', ''),
  pi('contents', 'google-generative-ai', '/v1beta'),
]
