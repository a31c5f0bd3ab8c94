import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { BUDGETED, thinkingOf } from './thinking.ts'

/* Libraries in JavaScript: each a short program with two tools of its own (../programs). */

const PROGRAMS = join(import.meta.dirname, '../programs')

const javascript = (from: Package, program: string, ...args: readonly string[]): Client => ({
  name: [from, ...args].join('-'),
  package: from,
  // LangChain lets models alone think that it knows.
  model: from === 'langchain-js' && args[0] === 'responses' ? 'gpt-5.6' : 'house-model',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['read_file', 'write_file'],
  read: path => ({ tool: 'read_file', arguments: { path } }),
  write: (path, content) => ({ tool: 'write_file', arguments: { path, content } }),
  command: ({ address, key, model }, installed) => ({
    run: [process.execPath, join(PROGRAMS, program), ...args],
    env: {
      IL_PACKAGES: installed,
      IL_ADDRESS: address,
      IL_KEY: key,
      IL_MODEL: model,
      IL_PROMPT: PROMPT,
      IL_THINKING: JSON.stringify(thinkingOf(model)),
    },
  }),
})

const FORMATS = ['chat', 'responses', 'messages', 'contents']

export const JAVASCRIPT: readonly Client[] = [
  ...FORMATS.map(format => javascript('ai-sdk-6', 'ai-sdk.mjs', format)),
  ...FORMATS.map(format => javascript('ai-sdk-6', 'ai-sdk.mjs', format, 'whole')),
  ...FORMATS.map(format => javascript('ai-sdk-7', 'ai-sdk.mjs', format)),
  ...FORMATS.map(format => javascript('langchain-js', 'langchain.mjs', format)),
]
