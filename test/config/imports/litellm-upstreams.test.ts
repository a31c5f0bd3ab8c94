import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/*
 * Where LiteLLM sends the requests of an entry: each row is what version 1.110 sent to a server on the loopback
 * (2026-11-30).
 */

const OWN = 'https://own.example.org'
const ENV = {
  ...{ AWS_REGION: 'eu-west-1', GOOGLE_CLOUD_PROJECT: 'p', OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
  ...{
    COHERE_API_KEY: 'k',
    AZURE_API_KEY: 'k',
    AZURE_AI_API_KEY: 'k',
    AZURE_API_BASE: 'https://r.openai.azure.com',
    MISTRAL_API_KEY: 'k',
  },
}

const importEntry = (litellm_params: object, model_info = {}) =>
  importConfig('litellm', JSON.stringify({ model_list: [{ model_name: 'm', litellm_params, model_info }] }), 'file')

const channelOf = (params: object, info = {}) => readConfig(importEntry(params, info).text, ENV).channels[0]!

const addressOf = (params: object, format = 'chat') =>
  channelOf(params).formats.find(one => one.format === format)?.baseUrl

describe('an own address has the path that LiteLLM appends its own to', () => {
  const kept = ['cerebras', 'dashscope', 'deepseek', 'groq', 'hosted_vllm', 'moonshot', 'openrouter', 'together_ai']
  const cases = [...kept, 'xai', 'zai', 'openai', 'litellm_proxy'].flatMap(prefix => [
    [prefix, OWN, OWN],
    [prefix, `${OWN}/v1`, `${OWN}/v1`],
    [prefix, `${OWN}/base/v1`, `${OWN}/base/v1`],
  ])
  const versioned = ['mistral', 'minimax', 'huggingface', 'ollama', 'ollama_chat', 'heroku'].flatMap(prefix => [
    [prefix, OWN, `${OWN}/v1`],
    [prefix, `${OWN}/v1`, `${OWN}/v1`],
  ])
  test.each([...cases, ...versioned])('%s at %s: %s', (prefix, api_base, address) => {
    expect(addressOf({ model: `${prefix}/m`, api_base, api_key: 'k' })).toBe(address)
  })

  test('rankings of Foundry are below /v1', () => {
    expect(addressOf({ model: 'azure_ai/cohere-rerank-v3.5', api_base: OWN, api_key: 'k' }, 'rerank')).toBe(`${OWN}/v1`)
  })
})

test.each([
  ['fireworks_ai/deepseek-v4', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'],
  ['perplexity/sonar-pro', 'https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'],
  ['nvidia_nim/meta/llama-4', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'],
  ['deepinfra/m', 'https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'],
])('%s is at the address that LiteLLM knows, with the key of its variable', (model, address, name) => {
  const { text } = importEntry({ model })
  const [channel] = readConfig(text, { [name]: 'the-key' }).channels
  expect([channel!.formats[0]!.baseUrl, channel!.key]).toEqual([address, 'the-key'])
  expect(channelOf({ model, api_key: 'own' }).key).toBe('own')
})

describe('an entry without an address has that of the environment', () => {
  test('of vLLM', () => {
    const { text } = importEntry({ model: 'hosted_vllm/m' })
    const { channels } = readConfig(text, { HOSTED_VLLM_API_BASE: `${OWN}/v1` })
    expect(channels[0]!.formats.find(({ format }) => format === 'chat')?.baseUrl).toBe(`${OWN}/v1`)
    expect(() => readConfig(text, {})).toThrow('HOSTED_VLLM_API_BASE is not set')
  })

  test.each(['ollama', 'ollama_chat'])('of %s, which a note names, because most are at the usual one', prefix => {
    const { notes } = importEntry({ model: `${prefix}/m` })
    expect(notes).toMatchObject([{ text: expect.stringContaining('OLLAMA_API_BASE') }])
    expect(importEntry({ model: `${prefix}/m`, api_base: OWN }).notes).toEqual([])
  })
})

describe('a name without a provider is that of the provider to which LiteLLM sends it', () => {
  test.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-converse'],
    ['amazon.nova-pro-v1:0', 'bedrock-converse'],
    ['claude-sonnet-4-5-20250929-v1:0', 'bedrock-converse'],
    ['claude-sonnet-4-5', 'anthropic'],
    ['gemini-2.5-pro', 'vertex'],
    ['command-r-08-2024', 'cohere'],
    ['gpt-3.5-turbo', 'openai'],
    ['gpt-4.1', 'openai'],
  ])('%s: %s', (model, provider) => {
    expect(channelOf({ model }).provider).toBe(provider)
  })
})

describe('prefixes that only LiteLLM reads are no part of the name', () => {
  test.each<[model: string, name: string, more?: object]>([
    ['azure/o_series/my-o3', 'my-o3'],
    ['azure/gpt5_series/my-gpt-5', 'my-gpt-5'],
    ['azure_ai/model_router/my-router', 'my-router', { api_base: 'https://r.services.ai.azure.com' }],
    [
      'bedrock/deepseek_r1/arn:aws:bedrock:us-east-1:1:imported-model/x',
      'arn:aws:bedrock:us-east-1:1:imported-model/x',
    ],
    ['bedrock/mantle/anthropic.claude-mythos-preview', 'anthropic.claude-mythos-preview'],
    ['cohere_chat/v1/command-a-03-2025', 'command-a-03-2025'],
    ['fireworks_ai/m', 'accounts/fireworks/models/m', { api_base: OWN, api_key: 'k' }],
  ])('%s: %s', (model, name, more = {}) => {
    expect(channelOf({ model, ...more }).models.named.get('m')).toBe(name)
  })

  test('the region of a resource is that of its name', () => {
    const model_id = 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/x'
    expect(addressOf({ model: 'bedrock/us.anthropic.claude', model_id }, 'converse')).toContain('.eu-central-1.')
  })
})

describe('models without Chat Completions', () => {
  test.each([
    [{ model: 'azure/responses/d' }, 'azure-openai', 'responses', 'https://r.openai.azure.com/openai/v1'],
    [{ model: 'azure/gpt-5.1-codex' }, 'azure-openai', 'responses', 'https://r.openai.azure.com/openai/v1'],
    [{ model: 'openai/o1-pro' }, 'openai', 'responses', 'https://api.openai.com/v1'],
    [{ model: 'gpt-5.3-codex' }, 'openai', 'responses', 'https://api.openai.com/v1'],
    [{ model: 'text-completion-openai/x' }, 'openai', 'completions', 'https://api.openai.com/v1'],
  ])('%j', (params, provider, format, address) => {
    const channel = channelOf(params)
    expect([channel.provider, channel.formats.map(one => [one.format, one.baseUrl])]).toEqual([
      ...[provider, [[format, address]]],
    ])
  })

  test('Foundry serves the models of others with the current API', () => {
    const params = { model: 'azure_ai/mistral-large', api_base: 'https://r.services.ai.azure.com', api_key: 'k' }
    expect(addressOf(params)).toBe('https://r.services.ai.azure.com/openai/v1')
  })
})

test.each([
  ...['bedrock/agent/A/B', 'bedrock/agentcore/arn:aws:x', 'bedrock/amazon.titan-embed-text-v2:0'],
  ...['bedrock/amazon.nova-canvas-v1:0', 'bedrock/arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0'],
  ...['vertex_ai/meta/llama-3.1-405b-instruct-maas', 'vertex_ai/mistral-large@2411', 'vertex_ai/1234567890'],
  ...['vertex_ai/text-bison', 'vertex_ai/imagen-4.0', 'vertex_ai/multimodalembedding'],
  ...['azure/speech/azure-tts', 'azure_ai/agents/asst_1', 'azure_ai/flux.2-pro'],
  ...['watsonx/m', 'triton/m', 'langgraph/agent', 'sagemaker/m', 'replicate/m', 'snowflake/m'],
  'perplexity/preset/pro-search',
])('%s is left out and named, because no channel speaks its format', model => {
  const { channels, notes } = importEntry({ model, api_base: OWN, api_key: 'k' })
  expect([channels, notes.map(({ path }) => path)]).toEqual([0, ['model_list[0]']])
})

test.each(['vertex_ai/text-embedding-004', 'text-embedding-005', 'vertex_ai/gemini-embedding-001'])(
  '%s goes to Vertex AI, which makes vectors with it',
  model => {
    const channel = channelOf({ model, vertex_project: 'p', vertex_location: 'europe-west4' })
    expect([channel.provider, channel.formats.map(one => one.format)]).toEqual(['vertex', ['contents']])
  },
)

test('the key that LiteLLM takes from the environment is named', () => {
  expect(importEntry({ model: 'openai/m', api_base: OWN }).notes.map(({ path }) => path)).toEqual([
    'model_list[0].litellm_params.api_key',
  ])
})

describe('a name whose first part is no provider is whole at its address', () => {
  test.each([
    ['mistralai/mixtral-8x22b', 'https://integrate.api.nvidia.com/v1', 'mistralai/mixtral-8x22b'],
    ['google/gemma-3-27b-it', 'https://openrouter.ai/api/v1', 'google/gemma-3-27b-it'],
    ['nvidia_nim/meta/llama-3.3', OWN, 'meta/llama-3.3'],
    ['veniceai/m', OWN, 'm'],
    ['perplexity/sonar', OWN, 'sonar'],
  ])('%s at %s: %s', (model, api_base, name) => {
    expect(channelOf({ model, api_base, api_key: 'k' }).models.named.get('m')).toBe(name)
  })
})

test('an entry whose model is a variable is left out, because the variable decides its provider', () => {
  const { channels, notes } = importEntry({ model: 'os.environ/MODEL', api_base: OWN, api_key: 'k' })
  expect([channels, notes]).toEqual([0, [{ path: 'model_list[0]', text: expect.stringContaining('MODEL') }]])
})

describe('an address of Azure', () => {
  const azure = (params: object) => channelOf({ model: 'azure/m', api_version: '2024-10-21', api_key: 'k', ...params })

  test.each([
    `${OWN}/openai/deployments/d`,
    `${OWN}/openai/deployments/d/`,
    `${OWN}/openai/deployments/d/chat/completions`,
  ])('%s names the deployment', api_base => {
    const channel = azure({ api_base })
    expect(channel.formats[0]!.baseUrl).toBe(`${OWN}/openai/deployments`)
    expect(channel.models.named.get('m')).toBe('d')
  })

  test('has the deployment that the entry names apart from its model', () => {
    const channel = azure({ model: 'gpt-4.1', deployment_id: 'd', api_base: OWN })
    expect([channel.provider, channel.models.named.get('m')]).toEqual(['azure-deployments', 'd'])
  })

  test.each(['v1', 'preview', 'latest'])('with the version %s is that of the current API', api_version => {
    const channel = azure({ api_base: OWN, api_version })
    expect(channel.formats.find(({ format }) => format === 'chat')!.baseUrl).toBe(`${OWN}/openai/v1`)
  })

  test('behind Cloudflare has paths that no channel has', () => {
    const api_base = 'https://gateway.ai.cloudflare.com/v1/account/gateway/azure-openai/resource'
    expect(importEntry({ model: 'azure/m', api_base, api_key: 'k' })).toMatchObject({ channels: 0, notes: [{}] })
  })
})

test('Vertex AI without a location is that of LiteLLM', () => {
  expect(addressOf({ model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p' }, 'contents')).toMatch(/\/\/us-central1-/)
})

test('DashScope without an address is that of LiteLLM', () => {
  expect(addressOf({ model: 'dashscope/qwen-plus', api_key: 'k' })).toBe(
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
  )
})

test('headers are those of both parameters', () => {
  const params = { model: 'openai/m', api_key: 'k', headers: { a: '1' }, extra_headers: { b: '2' } }
  expect(importEntry(params).text).toMatch(/headers:\n +a: "1"\n +b: "2"\n/)
})
