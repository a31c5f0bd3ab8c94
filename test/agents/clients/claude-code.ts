import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client, Command } from './client.ts'
import { BUDGETED } from './thinking.ts'

/**
 * Claude Code: the messages format, with its own tools for files and without confirmations.
 *
 * @param cloudEnv returns the settings of the address and the key.
 */
const claudeCodeBy = (name: string, cloudEnv: (address: string, key: string) => Environment): Client => ({
  name,
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
      ...cloudEnv(address, key),
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
})

type Environment = NonNullable<Command['env']>

export const claudeCode = claudeCodeBy('claude-code', (address, key) => ({
  ANTHROPIC_BASE_URL: address,
  ANTHROPIC_AUTH_TOKEN: key,
}))

/** Claude Code as it is set up for clouds, with the gateway in their place (docs/clouds.md#clients-of-clouds). */
export const CLAUDE_CODE_AT_CLOUDS: readonly Client[] = [
  {
    ...claudeCodeBy('claude-code-bedrock', (address, key) => ({
      CLAUDE_CODE_USE_BEDROCK: '1',
      ANTHROPIC_BEDROCK_BASE_URL: address,
      AWS_REGION: 'us-east-1',
      AWS_BEARER_TOKEN_BEDROCK: key,
    })),
    // It puts the inference profile of the region in the place of a model that it knows.
    otherModels: ['us.anthropic.claude-opus-4-8', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  },
  claudeCodeBy('claude-code-vertex', (address, key) => ({
    CLAUDE_CODE_USE_VERTEX: '1',
    CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
    ANTHROPIC_VERTEX_BASE_URL: `${address}/v1`,
    ANTHROPIC_VERTEX_PROJECT_ID: 'any',
    CLOUD_ML_REGION: 'global',
    ANTHROPIC_CUSTOM_HEADERS: `Authorization: Bearer ${key}`,
  })),
  claudeCodeBy('claude-code-foundry', (address, key) => ({
    CLAUDE_CODE_USE_FOUNDRY: '1',
    ANTHROPIC_FOUNDRY_BASE_URL: address,
    ANTHROPIC_FOUNDRY_API_KEY: key,
  })),
]
