import { join } from 'node:path'
import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { library } from './library.ts'

/* Libraries in Python. */

/** LiteLLM asks for prices, others for news: none of it is there to be had. */
const QUIET = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LANGSMITH_TRACING: 'false', PYTHONDONTWRITEBYTECODE: '1' }

const python = (name: string, program: string, args: readonly string[] = [], from: Package = 'python'): Client =>
  library({
    name,
    package: from,
    // pydantic-ai keeps what is encrypted for models alone that it knows.
    model: name === 'pydantic-ai-responses' ? 'gpt-5.6' : 'own-model',
    program,
    args,
    interpreter: installed => join(installed, 'bin/python'),
    env: () => QUIET,
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
