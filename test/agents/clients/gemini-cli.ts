import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client } from './client.ts'

/** Gemini CLI: the contents format. It requests another model than its setting if that model was renamed. */
export const geminiCli: Client = {
  name: 'gemini-cli',
  package: 'gemini-cli',
  model: 'gemini-3-pro-preview',
  otherModels: ['gemini-3.1-pro-preview'],
  tools: ['read_file', 'write_file', 'run_shell_command', 'list_directory', 'replace'],
  read: path => ({ tool: 'read_file', arguments: { file_path: path } }),
  write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
  command: ({ home, address, key, model }, installed) => ({
    run: [
      process.execPath,
      join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js'),
      ...['-m', model, '--yolo', '-p', PROMPT],
    ],
    env: { GOOGLE_GEMINI_BASE_URL: address, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    files: {
      [join(home, '.gemini/settings.json')]: {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true },
      },
    },
  }),
}
