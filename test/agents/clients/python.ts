import { join } from 'node:path'
import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { ALL, library, programAt } from './library.ts'

/* Libraries in Python. */

/** LiteLLM asks for prices, others for news: none of it is there to be had. */
const QUIET = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LANGSMITH_TRACING: 'false', PYTHONDONTWRITEBYTECODE: '1' }

const python = (
  name: string,
  program: string,
  args: readonly string[] = [],
  from: Package = 'python',
  more: Pick<Parameters<typeof library>[0], 'scenarios' | 'nameOf'> | object = {},
): Client =>
  library({
    name,
    package: from,
    // pydantic-ai keeps what is encrypted for models alone that it knows.
    model: name === 'pydantic-ai-responses' ? 'gpt-5.6' : 'own-model',
    run: installed => [join(installed, 'bin/python'), programAt(program), ...args],
    env: () => QUIET,
    ...more,
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

/** Its functions have the name of their plugin before their own, and another mark between both for Gemini. */
export const SEMANTIC_KERNEL: readonly Client[] = ['chat', 'messages', 'contents'].map(format =>
  python(`semantic-kernel-${format}`, 'semantic_kernel_chat.py', [format], 'semantic-kernel', {
    scenarios: ALL,
    nameOf: (tool: string) => `files${format === 'contents' ? '__' : '-'}${tool}`,
  }),
)
