import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { library, programAt } from './library.ts'

/* Libraries in JavaScript. */

/** Libraries that request reasoning, or return it, only for models that they know. */
const KNOWING: readonly Package[] = ['langchain-js', 'openai-agents']

const javascript = (from: Package, program: string, ...args: readonly string[]): Client =>
  library({
    name: [from, ...args].join('-'),
    package: from,
    model: KNOWING.includes(from) && args[0] === 'responses' ? 'gpt-5.6' : 'own-model',
    run: () => [process.execPath, programAt(program), ...args],
    env: installed => ({ IL_PACKAGES: installed }),
  })

/** Providers of the AI SDK for other vendors. */
const VENDORS = ['converse', 'deepseek', 'groq', 'mistral', 'openrouter', 'xai']
const FORMATS = ['chat', 'responses', 'messages', 'contents']

export const JAVASCRIPT: readonly Client[] = [
  javascript('cohere-js', 'cohere.mjs'),
  javascript('cohere-js', 'cohere.mjs', 'whole'),
  ...FORMATS.map(format => javascript('ai-sdk-6', 'ai-sdk.mjs', format)),
  ...FORMATS.map(format => javascript('ai-sdk-6', 'ai-sdk.mjs', format, 'whole')),
  ...FORMATS.map(format => javascript('ai-sdk-7', 'ai-sdk.mjs', format)),
  ...VENDORS.map(vendor => javascript('ai-sdk-vendors', 'ai-sdk.mjs', vendor)),
  ...FORMATS.map(format => javascript('langchain-js', 'langchain.mjs', format)),
  ...['chat', 'responses'].map(format => javascript('openai-agents', 'openai-agents.mjs', format)),
]

/** SDKs of clouds: that of AWS, and those of Anthropic. */
export const CLOUDS_JS: readonly Client[] = [
  javascript('clouds-js', 'aws-sdk.mjs', 'bearer'),
  javascript('clouds-js', 'aws-sdk.mjs', 'signed'),
  ...['bedrock', 'vertex', 'foundry'].map(cloud => javascript('clouds-js', 'anthropic-clouds.mjs', cloud)),
]
