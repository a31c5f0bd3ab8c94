import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client, ToolUse } from './client.ts'
import { BUDGETED } from './thinking.ts'

/* Copilot's command line with an own provider, in each of its formats. It edits files as the model's maker trained it. */

const PATCHING = {
  model: 'gpt-5.6',
  tools: ['view', 'apply_patch', 'bash', 'glob'],
  write: (path: string, content: string): ToolUse => ({ tool: 'apply_patch', input: adding(path, content) }),
}
const CREATING = {
  model: 'claude-opus-4-8',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['view', 'create', 'edit', 'bash', 'glob'],
  write: (path: string, content: string): ToolUse => ({ tool: 'create', arguments: { path, file_text: content } }),
}

/** Returns a patch that adds a file. */
const adding = (path: string, content: string): string => {
  const lines = content.split('\n').slice(0, -1)
  return ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map(line => `+${line}`), '*** End Patch'].join('\n')
}

const copilot = (
  format: string,
  type: string,
  version: string,
  how: typeof PATCHING | typeof CREATING,
  wireApi?: string,
): Client => ({
  name: `copilot-${format}`,
  package: 'copilot',
  ...how,
  read: path => ({ tool: 'view', arguments: { path } }),
  command: ({ address, key, model }, installed) => ({
    run: [
      join(installed, 'node_modules/@github/copilot-linux-x64/copilot'),
      ...['--allow-all-tools', '--allow-all-paths', '--no-auto-update', '-p', PROMPT],
    ],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_MODEL: model,
      COPILOT_PROVIDER_TYPE: type,
      COPILOT_PROVIDER_BASE_URL: `${address}${version}`,
      COPILOT_PROVIDER_API_KEY: key,
      ...(wireApi === undefined ? {} : { COPILOT_PROVIDER_WIRE_API: wireApi }),
    },
  }),
})

export const COPILOT: readonly Client[] = [
  copilot('chat', 'openai', '/v1', PATCHING, 'completions'),
  copilot('responses', 'openai', '/v1', PATCHING, 'responses'),
  copilot('messages', 'anthropic', '', CREATING),
]
