import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { BUDGETED, thinkingOf } from './thinking.ts'

/* Libraries in Python: each a short program with two tools of its own (../programs). */

const PROGRAMS = join(import.meta.dirname, '../programs')

/** LiteLLM asks for prices, others for news: none of it is there to be had. */
const QUIET = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LANGSMITH_TRACING: 'false', PYTHONDONTWRITEBYTECODE: '1' }

const python = (name: string, program: string, args: readonly string[] = [], from: Package = 'python'): Client => ({
  name,
  package: from,
  // pydantic-ai keeps what is encrypted for models alone that it knows.
  model: name === 'pydantic-ai-responses' ? 'gpt-5.6' : 'house-model',
  modelAt: { 'messages-budget': BUDGETED },
  tools: ['read_file', 'write_file'],
  read: path => ({ tool: 'read_file', arguments: { path } }),
  write: (path, content) => ({ tool: 'write_file', arguments: { path, content } }),
  command: ({ address, key, model }, installed) => ({
    run: [join(installed, 'bin/python'), join(PROGRAMS, program), ...args],
    env: {
      ...QUIET,
      IL_ADDRESS: address,
      IL_KEY: key,
      IL_MODEL: model,
      IL_PROMPT: PROMPT,
      IL_THINKING: JSON.stringify(thinkingOf(model)),
    },
  }),
})

const FORMATS = ['chat', 'responses', 'messages', 'contents']

export const PYTHON: readonly Client[] = [
  python('openai-py-chat', 'openai_chat.py'),
  python('openai-py-responses', 'openai_responses.py'),
  python('anthropic-py', 'anthropic_runner.py'),
  python('google-genai-py', 'genai_chat.py'),
  ...FORMATS.map(format => python(`langchain-py-${format}`, 'langchain_agent.py', [format])),
  ...FORMATS.map(format => python(`pydantic-ai-${format}`, 'pydantic_agent.py', [format])),
]

export const LITELLM: readonly Client[] = ['chat', 'messages', 'contents'].map(format =>
  python(`litellm-${format}`, 'litellm_loop.py', [format], 'litellm'),
)
