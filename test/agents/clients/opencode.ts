import { join } from 'node:path'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { PROMPT } from '../scenarios.ts'
import type { Client } from './client.ts'
import { ADAPTIVE, BUDGETED } from './thinking.ts'

/** Returns the settings of a model in the config. */
type Facts = (model: string) => JsonObject

/** opencode: the providers of the AI SDK, and therefore any of the four formats. */
const opencode = (format: string, npm: string, version: string, facts: Facts = () => ({})): Client => ({
  name: `opencode-${format}`,
  package: 'opencode',
  model: 'own-model',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['bash', 'read', 'write', 'edit', 'glob'],
  read: path => ({ tool: 'read', arguments: { filePath: path } }),
  write: (path, content) => ({ tool: 'write', arguments: { filePath: path, content } }),
  command: ({ work, address, key, model }, installed) => ({
    run: [join(installed, 'node_modules/opencode-linux-x64/bin/opencode'), 'run', '-m', `il/${model}`, PROMPT],
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    files: {
      [join(work, 'opencode.json')]: {
        share: 'disabled',
        autoupdate: false,
        permission: { edit: 'allow', bash: 'allow' },
        provider: {
          il: { npm, options: { baseURL: `${address}${version}`, apiKey: key }, models: { [model]: facts(model) } },
        },
      },
    },
  }),
})

export const opencodeChat = opencode('chat', '@ai-sdk/openai-compatible', '/v1')
export const opencodeResponses = opencode('responses', '@ai-sdk/openai', '/v1', () => ({
  reasoning: true,
  options: {
    reasoningEffort: 'medium',
    reasoningSummary: 'auto',
    include: ['reasoning.encrypted_content'],
    store: false,
  },
}))
export const opencodeMessages = opencode('messages', '@ai-sdk/anthropic', '/v1', model => ({
  reasoning: true,
  options: { thinking: model === BUDGETED ? { type: 'enabled', budgetTokens: 4000 } : ADAPTIVE },
}))
export const opencodeContents = opencode('contents', '@ai-sdk/google', '/v1beta', () => ({
  reasoning: true,
  options: { thinkingConfig: { includeThoughts: true } },
}))
