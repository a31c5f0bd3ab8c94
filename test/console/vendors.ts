import type { ModelFacts } from '../../src/config/index.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import type { ConsoleGateway } from './gateway.ts'
import { answers, fails, lists, openBefore, type Row, silence } from './upstreams.ts'

const facts = (id: string, fields: Partial<ModelFacts>): ModelFacts => ({ id, input: [], output: [], ...fields })

const MODELS: readonly ModelFacts[] = [
  facts('gpt-5.6', { name: 'GPT-5.6', context: 400_000, maxOutput: 128_000, price: { input: 1.25, output: 10 } }),
  facts('claude-opus-4-8', {
    ...{ name: 'Claude Opus 4.8', description: 'For long work in code and documents.', interface: 'messages' },
    ...{ context: 200_000, maxOutput: 64_000, price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 } },
  }),
  facts('deepseek-v4', { context: 128_000, price: { input: 0.28, output: 0.42 } }),
]

const ROWS: readonly Row[] = [
  {
    ...{ name: 'openai', script: answers },
    models: ['gpt-5.6', 'gpt-5.6-mini', 'gpt-4o', 'o3', 'text-embedding-3-large'],
  },
  {
    ...{ name: 'anthropic', provider: 'anthropic', models: ['claude-opus-4-8', 'claude-3-5-haiku-20241022'] },
    script: fails(429, 'Number of request tokens has exceeded your per-minute rate limit', { 'retry-after': '45' }),
  },
  {
    ...{ name: 'google', provider: 'google', models: ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-3-pro'] },
    script: answers,
  },
  {
    ...{ name: 'deepseek', provider: 'deepseek', models: { 'deepseek-v4': 'deepseek-chat' } },
    script: fails(401, 'Authentication Fails, Your api key: ****1234 is invalid'),
  },
  {
    ...{ name: 'openrouter', provider: 'openrouter', models: ['meta/*', 'qwen/*', 'claude-opus-4-8'], priority: 1 },
    script: lists('meta/llama-4-maverick', 'qwen/qwen3-max', 'qwen/qwen3-coder', 'claude-opus-4-8', 'x/other'),
  },
  {
    ...{ name: 'gpu-rack-2', provider: 'vllm', models: ['llama-4-scout'], key: 'none', maxConcurrent: 4 },
    script: silence,
  },
  { name: 'gpu-rack-3', provider: 'vllm', models: ['llama-4-scout'], key: 'none', priority: 1 },
]

/** Number of requests sent to each model. */
const REQUESTS = {
  ...{ 'gpt-5.6': 24, 'gpt-4o': 9, 'gemini-2.5-pro': 12, 'claude-opus-4-8': 3, 'deepseek-v4': 2 },
  ...{ 'qwen/qwen3-max': 4, 'llama-4-scout': 1 },
}

/** A gateway with several vendors, some of which fail, and with past requests; for screenshots. */
export async function openBeforeVendors(): Promise<ConsoleGateway> {
  const gateway = await openBefore(ROWS, { models: MODELS })
  const { testServer } = gateway.admin
  for (const [model, count] of Object.entries(REQUESTS))
    for (let request = 0; request < count; request++)
      await testServer.ask(CHAT_PATH, { model, messages: [{ role: 'user', content: 'Say hello.' }] })
  await gateway.admin.post('/channels/google/drain')
  return gateway
}
