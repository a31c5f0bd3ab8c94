import { join } from 'node:path'
import type { Package } from '../versions.ts'
import type { Client } from './client.ts'
import { ALL, library, programAt } from './library.ts'

/* Libraries in Python. */

/** Environment variables that turn off requests for prices (LiteLLM) and for news. The network is not available. */
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
    // pydantic-ai returns encrypted reasoning only to models that it knows.
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
  python('google-genai-py-vertex', 'genai_chat.py', ['vertex']),
  python('cohere-py', 'cohere_chat.py', [], 'cohere-py'),
  python('cohere-py-whole', 'cohere_chat.py', ['whole'], 'cohere-py'),
  ...FORMATS.map(format => python(`langchain-py-${format}`, 'langchain_agent.py', [format])),
  ...FORMATS.map(format => python(`pydantic-ai-${format}`, 'pydantic_agent.py', [format])),
]

/** SDKs of AWS and libraries above them, which speak Converse. */
export const AWS_PYTHON: readonly Client[] = [
  python('boto3', 'boto3_converse.py', [], 'aws-python'),
  python('strands', 'strands_agent.py', [], 'aws-python'),
  python('langchain-aws', 'langchain_agent.py', ['converse'], 'aws-python'),
]

export const LITELLM: readonly Client[] = ['chat', 'messages', 'contents'].map(format =>
  python(`litellm-${format}`, 'litellm_loop.py', [format], 'litellm'),
)

/** Mistral's own SDK, which takes each call of a stream as a whole one. */
export const MISTRAL: readonly Client[] = [python('mistral-py', 'mistral_chat.py', [], 'mistral')]

/** Semantic Kernel puts the name of the plugin before a function's name, with another separator for Gemini. */
export const SEMANTIC_KERNEL: readonly Client[] = ['chat', 'messages', 'contents'].map(format =>
  python(`semantic-kernel-${format}`, 'semantic_kernel_chat.py', [format], 'semantic-kernel', {
    scenarios: ALL,
    nameOf: (tool: string) => `files${format === 'contents' ? '__' : '-'}${tool}`,
  }),
)

/** Agno, whose chat clients number the calls of other vendors anew. */
export const AGNO: readonly Client[] = ['like', ...FORMATS].map(format =>
  python(`agno-${format}`, 'agno_agent.py', [format], 'agno'),
)
