import { join } from 'node:path'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { PROMPT } from '../scenarios.ts'
import type { Client, Command, Place } from './client.ts'
import { BUDGETED } from './thinking.ts'

/** Returns the variables and the name of the model for one of the client's providers. */
type Provider = (place: Place) => NonNullable<Command['env']>

/** Qwen Code: chat completions of OpenAI's SDK, or Messages of Anthropic's. */
const qwenCode = (format: string, type: string, model: string, provider: Provider): Client => ({
  name: `qwen-code-${format}`,
  package: 'qwen-code',
  model,
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['read_file', 'write_file', 'edit', 'run_shell_command'],
  read: path => ({ tool: 'read_file', arguments: { file_path: path } }),
  write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
  command: (place, installed) => ({
    run: [
      process.execPath,
      join(installed, 'node_modules/@qwen-code/qwen-code/cli.js'),
      ...['--yolo', '-m', place.model, '-p', PROMPT],
    ],
    env: provider(place),
    files: { [join(place.home, '.qwen/settings.json')]: settings(type) },
  }),
})

const settings = (selectedType: string): JsonObject => ({
  security: { auth: { selectedType } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
})

export const QWEN_CODE: readonly Client[] = [
  qwenCode('chat', 'openai', 'own-model', ({ address, key, model }) => ({
    ...{ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
  })),
  qwenCode('messages', 'anthropic', 'claude-opus-4-8', ({ address, key, model }) => ({
    ...{ ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: key, ANTHROPIC_MODEL: model },
  })),
]
