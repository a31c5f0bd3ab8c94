import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/* Addresses and names to which version 1.108.7 of LiteLLM sent requests of 313 entries (2026-12-01). */

const OWN = 'https://own.example.org'
const ENV = { AZURE_API_KEY: 'k', AZURE_API_BASE: OWN, COHERE_API_KEY: 'k', OPENAI_API_KEY: 'k' }

const importEntry = (litellm_params: object, model_info = {}) =>
  importConfig('litellm', JSON.stringify({ model_list: [{ model_name: 'm', litellm_params, model_info }] }), 'file')
const channelOf = (params: object, info = {}) =>
  readConfig(importEntry({ api_key: 'k', ...params }, info).text, ENV).channels[0]!
const reached = (params: object, format = 'chat', info = {}) => {
  const { formats, models } = channelOf(params, info)
  return [formats.find(one => one.format === format)?.baseUrl, models.named.get('m')]
}

describe('an address may be that of Chat Completions itself', () => {
  const prefixes = ['openrouter', 'groq', 'deepseek', 'xai', 'fireworks_ai', 'together_ai', 'minimax', 'openai']
  test.each([...prefixes, 'azure_ai', 'dashscope', 'hosted_vllm'])('of %s', prefix => {
    const [address] = reached({ model: `${prefix}/x`, api_base: `${OWN}/v1/chat/completions` })
    expect(address).toBe(`${OWN}/v1`)
  })

  test('of the vendor', () => {
    const api_base = 'https://openrouter.ai/api/v1/chat/completions'
    expect(channelOf({ model: 'openrouter/x/y', api_base }).formats[0]!.baseUrl).toBe('https://openrouter.ai/api/v1')
  })

  test('and that of Cohere the one of its task', () => {
    expect(reached({ model: 'cohere/command-r', api_base: `${OWN}/v2/chat` }, 'cohere-chat')).toEqual([
      OWN,
      'command-r',
    ])
  })
})

/*
 * Most entries for vendors that are compatible with OpenAI name the provider `openai` and the vendor's address (LiteLLM's
 * page "OpenAI-Compatible Endpoints", read on 2026-12-01). A channel with an address alone has neither the vendor's
 * dialect nor its prices, so that no budget counts its requests.
 */
describe('an entry of OpenAI at the address of another vendor is a channel of that vendor', () => {
  test.each([
    ['https://api.deepseek.com', 'deepseek'],
    ['https://api.deepseek.com/v1', 'deepseek'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.mistral.ai/v1/', 'mistral'],
    ['https://openrouter.ai/api/v1/chat/completions', 'openrouter'],
  ])('%s: %s', (api_base, provider) => {
    expect(channelOf({ model: 'openai/x', api_base })).toMatchObject({ provider, key: 'k' })
    expect(reached({ model: 'openai/x', api_base })[1]).toBe('x')
  })

  test('with the format of its work', () => {
    const { provider, formats } = channelOf(
      { model: 'openai/x', api_base: 'https://api.groq.com/openai/v1' },
      { mode: 'audio_transcription' },
    )
    expect([provider, formats.map(({ format }) => format)]).toEqual(['groq', ['transcriptions']])
  })

  test.each([
    ['embedding', 'https://api.deepseek.com'],
    [undefined, 'https://api.deepseek.com.example.org'],
    [undefined, 'http://127.0.0.1:11434/v1'],
  ])('but not one that does %s at %s', (mode, api_base) => {
    expect(channelOf({ model: 'openai/x', api_base }, { mode }).provider).toBe('custom')
  })
})

test.each(['mistral-large-latest', 'mistral-large-3', 'command-r-plus', 'command-r-plus-08-2024'])(
  'azure/%s is Chat Completions at an address of its own',
  model => {
    expect(reached({ model: `azure/${model}`, api_base: `${OWN}/v1` })).toEqual([`${OWN}/v1`, `azure/${model}`])
    expect(importEntry({ model: `azure/${model}` }).channels).toBe(0)
  },
)

test.each(['gpt-4o', 'gpt-5.6-sol', 'o4-mini', 'text-embedding-3-small'])('azure_ai/%s is a deployment', model => {
  const { formats, models } = channelOf({ model: `azure_ai/${model}`, api_base: 'https://r.openai.azure.com' })
  expect(formats[0]!.baseUrl).toContain('https://r.openai.azure.com')
  expect(importEntry({ model: `azure_ai/${model}`, api_base: 'https://r.openai.azure.com' }).text).toContain(
    'provider: azure-deployments',
  )
  expect(models.named.get('m')).toBe(model)
})

test('other models of azure_ai are Chat Completions at the address', () => {
  expect(reached({ model: 'azure_ai/gpt-oss-120b', api_base: OWN })).toEqual([OWN, 'gpt-oss-120b'])
})

test('models of Fireworks for vectors have no account before their names', () => {
  const model = 'fireworks_ai/nomic-ai/nomic-embed-text-v1.5'
  expect(reached({ model }, 'embeddings')[1]).toBe('nomic-ai/nomic-embed-text-v1.5')
  expect(reached({ model: 'fireworks_ai/qwen3-8b' }, 'embeddings', { mode: 'embedding' })[1]).toBe('qwen3-8b')
  expect(reached({ model: 'fireworks_ai/qwen3-8b' })[1]).toBe('accounts/fireworks/models/qwen3-8b')
})

test('an address of Gemini below a version is left out, because a channel appends one', () => {
  const entry = (api_base: string) => importEntry({ model: 'gemini/gemini-2.5-pro', api_base, api_key: 'k' })
  expect(entry('https://aiplatform.googleapis.com/v1/publishers/google').notes).toMatchObject([
    { path: 'model_list[0]' },
  ])
  expect(entry(`${OWN}/gemini/v1beta`).channels).toBe(1)
})

test('an address of Gemini without a version is left out, because LiteLLM appends none', () => {
  const entry = (api_base: string) => importEntry({ model: 'gemini/gemini-2.5-pro', api_base, api_key: 'k' })
  for (const api_base of [`${OWN}/gemini`, `${OWN}/gemini/v1`])
    expect(entry(api_base).notes).toMatchObject([{ path: 'model_list[0]', text: expect.stringContaining('`/v1beta`') }])
  expect(entry('https://gateway.ai.cloudflare.com/v1/a/g/google-ai-studio/v1beta').channels).toBe(1)
  expect(entry('os.environ/GEMINI_API_BASE').channels).toBe(1)
})

/* Addresses of Claude in Foundry (LiteLLM's page "Azure Anthropic" and version 1.108.7, run on 2026-12-01). */
test.each(['', '/anthropic', '/anthropic/', '/anthropic/v1', '/anthropic/v1/messages'])(
  'an address of Claude in Foundry may end with "%s"',
  path => {
    const host = 'https://r.services.ai.azure.com'
    const params = { model: 'azure_ai/claude-opus-4-5', api_base: `${host}${path}` }
    expect(channelOf(params).formats.map(({ baseUrl }) => baseUrl)).toEqual([`${host}/anthropic`])
  },
)

test('another address of Messages for Claude in Foundry is left out', () => {
  const params = { model: 'azure_ai/claude-opus-4-5', api_base: `${OWN}/v1/messages`, api_key: 'k' }
  expect(importEntry(params).notes).toMatchObject([{ path: 'model_list[0]' }])
})

test.each(['azure_ai/claude-opus-4-5', 'azure_ai/gpt-5', 'azure_ai/Llama-3.3-70B'])(
  'the key of %s is that of Foundry’s variable',
  model => expect(importEntry({ model, api_base: OWN }).text).toMatch(/key: \$\{AZURE_AI_API_KEY\}/),
)

describe('an entry with an address and without a key', () => {
  test('has the key of the vendor at the vendor’s address', () => {
    const { text, notes } = importEntry({ model: 'perplexity/sonar', api_base: 'https://api.perplexity.ai/' })
    expect(text).toMatch(/key: \$\{PERPLEXITYAI_API_KEY\}/)
    expect(notes).toEqual([])
  })

  test.each([
    ['perplexity/sonar', /PERPLEXITYAI_API_KEY/],
    ['litellm_proxy/x', /LITELLM_PROXY_API_KEY/],
    ['databricks/dbrx', /environment/],
  ])('has a note at another address: %s', (model, text) => {
    const path = 'model_list[0].litellm_params.api_key'
    expect(importEntry({ model, api_base: OWN }).notes).toMatchObject([{ path, text: expect.stringMatching(text) }])
  })

  test('has no note if its servers need no key', () =>
    expect(importEntry({ model: 'lm_studio/x', api_base: OWN }).notes).toEqual([]))
})

test.each([
  ['voyage/voyage-3', 'embedding', 'embeddings'],
  ['jina_ai/jina-embeddings-v3', 'embedding', 'embeddings'],
  ['hosted_vllm/bge', 'embedding', 'embeddings'],
  ['infinity/bge', 'rerank', 'rerank'],
  ['azure_ai/cohere-rerank-v3', 'rerank', 'rerank'],
])('the address of %s may be that of its task', (model, mode, format) => {
  const [address] = reached({ model, api_base: `${OWN}/v1/${format}` }, format, { mode })
  expect(address).toBe(`${OWN}/v1`)
})

test('the version of Cohere’s API is no part of the name', () => {
  expect(reached({ model: 'cohere/v2/command-r' }, 'cohere-chat')[1]).toBe('command-r')
})

test('an own address of text completions has the note about conversations', () => {
  const model = 'text-completion-openai/gpt-3.5-turbo-instruct'
  expect(importEntry({ model, api_base: OWN, api_key: 'k' }).notes).toMatchObject([
    { path: 'model_list[0].litellm_params.model' },
  ])
})
