import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import type { Config } from '../../../src/config/types.ts'

/* Configs of other gateways become configs that `check` accepts; what has no place in them is a note. */

/** Reads a config with a value for each variable that it names. */
function read(text: string): Config {
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name!, name!.toLowerCase()] as const)
  const usual = {
    AWS_REGION: 'eu-west-1',
    GOOGLE_CLOUD_PROJECT: 'project',
    OPENAI_API_KEY: 'o',
    ANTHROPIC_API_KEY: 'a',
  }
  return readConfig(text, { ...usual, ...Object.fromEntries(names), AZURE_API_BASE: 'https://a.openai.azure.com' })
}

const modelsOf = ({ channels }: Config): string[] =>
  channels.map(
    ({ name, models }) =>
      `${name}: ${[...models.named]
        .map(pair => pair.join('>'))
        .concat(models.patterns)
        .join(' ')}`,
  )

const litellm = (config: object) => importConfig('litellm', JSON.stringify(config), 'config.yaml')

test('entries of LiteLLM with one account are one channel, and equal names of two accounts are two', () => {
  const { text, notes } = litellm({
    model_list: [
      { model_name: 'small', litellm_params: { model: 'openai/gpt-5.6-mini', api_key: 'os.environ/OPENAI_API_KEY' } },
      { model_name: 'large', litellm_params: { model: 'gpt-5.6', api_key: 'os.environ/OPENAI_API_KEY' } },
      { model_name: 'large', litellm_params: { model: 'claude-opus-4-8', api_key: 'os.environ/ANTHROPIC_API_KEY' } },
      { model_name: 'large', litellm_params: { model: 'gpt-5.6-pro', api_key: 'os.environ/OPENAI_API_KEY' } },
    ],
  })
  expect(modelsOf(read(text))).toEqual([
    'openai: small>gpt-5.6-mini large>gpt-5.6',
    'anthropic: large>claude-opus-4-8',
    'openai-2: large>gpt-5.6-pro',
  ])
  expect(notes).toEqual([])
})

test('clouds, addresses, limits, prices and timeouts of LiteLLM have their fields', () => {
  const { text } = litellm({
    model_list: [
      {
        model_name: 'azure',
        litellm_params: {
          ...{ model: 'azure/deployed', api_base: 'https://x.openai.azure.com/', api_version: '2024-10-21' },
          ...{ api_key: 'os.environ/AZURE_KEY', rpm: 480, tpm: 10_000, stream_timeout: 0.5, timeout: 30 },
        },
      },
      {
        model_name: 'bedrock',
        litellm_params: {
          ...{ model: 'bedrock/converse/amazon.nova-pro-v1:0', aws_region_name: 'us-east-1' },
          ...{ aws_access_key_id: 'os.environ/ID', aws_secret_access_key: 'os.environ/SECRET' },
        },
      },
      {
        model_name: 'gemini',
        litellm_params: { model: 'vertex_ai/gemini-3-pro', vertex_project: 'p', vertex_location: 'us-east5' },
      },
      { model_name: 'claude', litellm_params: { model: 'vertex_ai/claude-opus-4-8', vertex_project: 'p' } },
      { model_name: 'local', litellm_params: { model: 'ollama_chat/qwen', api_base: 'http://127.0.0.1:11434' } },
      {
        model_name: 'vectors',
        litellm_params: { model: 'openai/bge', api_base: 'https://bge.example.org/v1', api_key: 'k' },
        model_info: { mode: 'embedding', input_cost_per_token: 2e-8, max_input_tokens: 8192 },
      },
    ],
  })
  const config = read(text)
  expect(config.channels.map(({ provider }) => provider)).toEqual([
    ...['azure-deployments', 'bedrock-converse', 'vertex', 'vertex-claude', 'ollama', 'custom'],
  ])
  expect(config.channels[0]!.timeout).toMatchObject({ whole: 30_000, firstByte: 1000 })
  expect(config.channels[0]!.keys?.[0]).toMatchObject({ key: 'azure_key' })
  expect(text).toMatch(/rpm: 480\n +tpm: 10000/)
  expect(config.channels[1]!.auth).toMatchObject({ type: 'aws-keys' })
  expect(config.channels[4]!.formats[0]).toMatchObject({ format: 'chat', baseUrl: 'http://127.0.0.1:11434/v1' })
  expect(config.channels[5]!.formats.map(({ format }) => format)).toEqual(['embeddings'])
  expect(text).toContain('input: 0.02')
  expect(text).toContain('context: 8192')
})

test('fallbacks, aliases, order, master key and Redis of LiteLLM are carried over, and the rest is noted', () => {
  const { text, notes } = litellm({
    model_list: [
      { model_name: 'a', litellm_params: { model: 'gpt-5.6', mock_timeout: true } },
      { model_name: 'b', litellm_params: { model: 'claude-opus-4-8' } },
      { model_name: 'c', litellm_params: { model: 'sagemaker/x' } },
    ],
    router_settings: {
      ...{ routing_strategy: 'latency-based-routing', model_group_alias: { second: 'a', third: { model: 'b' } } },
      ...{ redis_host: 'os.environ/REDIS_HOST', redis_password: 'os.environ/REDIS_PASSWORD' },
    },
    litellm_settings: { fallbacks: [{ a: ['b'] }], context_window_fallbacks: [{ a: ['third'] }], cache: true },
    general_settings: { master_key: 'sk-1234', alerting: ['slack'] },
    guardrails: [],
  })
  const config = read(text)
  expect(modelsOf(config)).toEqual([
    'openai: a>gpt-5.6 second>gpt-5.6',
    'anthropic: b>claude-opus-4-8 third>claude-opus-4-8',
  ])
  expect(config.models.get('a')).toMatchObject({
    order: 'latency',
    fallbacks: [{ model: 'b' }, { model: 'third', on: new Set(['context']) }],
  })
  expect(text).toContain(`redis: redis://:\${REDIS_PASSWORD}@\${REDIS_HOST}:6379`)
  expect(config.keys.map(({ name }) => name)).toEqual(['master'])
  expect(notes.map(({ path }) => path)).toEqual([
    ...['model_list[0].litellm_params.mock_timeout', 'model_list[2]', 'litellm_settings.cache'],
    ...['general_settings.master_key', 'general_settings.alerting', 'guardrails'],
    'router_settings.model_group_alias.second',
  ])
  for (const { path } of notes) expect(text).toContain(`# - ${path}: `)
})

const EXPORT = {
  data: {
    items: [
      {
        ...{ id: 1, type: 14, status: 1, name: 'Claude main', models: 'claude-opus-4-8,fast', group: 'default,vip' },
        ...{ model_mapping: '{"fast":"claude-haiku-4-5"}', priority: 10, weight: 3, key: '' },
      },
      {
        id: 2,
        type: 1,
        status: 1,
        name: 'own',
        base_url: 'https://x.example.org/',
        models: 'gpt-5.6',
        key: 'a\nb',
        priority: 0,
      },
      { id: 3, type: 2, status: 1, name: 'pictures', models: 'mj' },
      { id: 4, type: 1, status: 2, name: 'old', models: 'gpt-4' },
    ],
  },
}

test.each(['new-api', 'one-api'])('channels of %s keep models, groups, keys and order', gateway => {
  const { text, notes } = importConfig(gateway, JSON.stringify(EXPORT), 'channels.json')
  const config = read(text)
  expect(modelsOf(config)).toEqual([
    'Claude main: claude-opus-4-8>claude-opus-4-8 fast>claude-haiku-4-5',
    'own: gpt-5.6>gpt-5.6',
  ])
  expect(config.channels.map(({ priority, weight }) => [priority, weight])).toEqual([
    [0, 3],
    [1, 1],
  ])
  expect(text).toContain(`key: \${CLAUDE_MAIN_KEY}`)
  expect(text).toContain('base_url: https://x.example.org/v1')
  expect([...config.groups.keys()]).toEqual(['default', 'vip'])
  expect(notes.map(note => note.path)).toEqual(['[0] (Claude main)', '[2] (pictures)', '[3] (old)'])
})

test('targets of Portkey keep their order, and weights only where they share', () => {
  const { text, notes } = importConfig(
    'portkey',
    JSON.stringify({
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [
        {
          strategy: { mode: 'loadbalance' },
          targets: [
            { provider: 'openai', api_key: 'a', weight: 3, override_params: { model: 'gpt-5.6' } },
            { provider: 'openai', api_key: 'b', weight: 1, override_params: { model: 'gpt-5.6' } },
          ],
        },
        { provider: 'anthropic', virtual_key: 'x', api_key: 'c', override_params: { model: 'claude-opus-4-8' } },
        { provider: 'unheard-of', api_key: 'd' },
      ],
    }),
    'config.json',
  )
  const { channels } = read(text)
  expect(channels.map(({ name, priority, weight }) => [name, priority, weight])).toEqual([
    ...[
      ['openai', 0, 3],
      ['openai-2', 0, 1],
    ],
    ['anthropic', 1, 1],
  ])
  expect(notes.map(({ path }) => path)).toEqual([
    'strategy.on_status_codes',
    'targets[1].virtual_key',
    'targets[2].provider',
  ])
})

describe('a group of targets of Portkey', () => {
  const imported = (config: object) => importConfig('portkey', JSON.stringify(config), 'config.json')
  const OPENAI = { provider: 'openai', api_key: 'a' }

  test('passes its host, time and parameters on to its targets, which may have their own', () => {
    const { channels } = read(
      imported({
        ...{ strategy: { mode: 'fallback' }, custom_host: 'https://own.example.org/v1', request_timeout: 10_000 },
        override_params: { model: 'm' },
        targets: [
          { strategy: { mode: 'loadbalance' }, targets: [OPENAI] },
          {
            ...OPENAI,
            custom_host: 'https://other.example.org/v1',
            request_timeout: 5000,
            override_params: { model: 'n' },
          },
        ],
      }).text,
    )
    expect(channels.map(one => [one.formats[0]!.baseUrl, one.timeout.whole, one.models.named.get('portkey')])).toEqual([
      ['https://own.example.org/v1', 10_000, 'm'],
      ['https://other.example.org/v1', 5000, 'n'],
    ])
  })

  test('uses only the first target in the mode `single`, and names the others', () => {
    const { channels, notes } = imported({
      strategy: { mode: 'single' },
      targets: [OPENAI, { ...OPENAI, api_key: 'b' }],
    })
    expect([channels, notes.map(({ path }) => path)]).toEqual([1, ['targets[1]']])
  })

  test('divides its weight among its targets', () => {
    const shared = (weights: readonly number[]) => ({
      strategy: { mode: 'loadbalance' },
      targets: weights.map((weight, index) => ({ ...OPENAI, api_key: `k${weight}${index}`, weight })),
    })
    const { channels } = read(
      imported({
        strategy: { mode: 'loadbalance' },
        targets: [
          { ...shared([3, 1]), weight: 8 },
          { ...OPENAI, weight: 2 },
        ],
      }).text,
    )
    expect(channels.map(({ weight }) => weight)).toEqual([6, 2, 2])
  })
})

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)

test('any list of LiteLLM models becomes a config with each of them, or a note', () => {
  const prefix = fc.constantFrom(
    '',
    'openai/',
    'anthropic/',
    'groq/',
    'bedrock/',
    'vertex_ai/',
    'azure/',
    'sagemaker/',
    'vllm/',
  )
  const entry = fc.record({
    model_name: word,
    litellm_params: fc.record(
      {
        model: fc.tuple(prefix, word).map(parts => parts.join('')),
        api_key: fc.oneof(fc.constant('os.environ/SOME_KEY'), word),
        api_base: fc.constant('https://a.example.org'),
        ...{ rpm: fc.nat(), timeout: fc.nat(1000), weight: fc.nat(5), unheard: fc.boolean() },
      },
      { requiredKeys: ['model', 'api_key'] },
    ),
  })
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 6 }), model_list => {
      const { text, notes } = litellm({ model_list })
      const config = read(text)
      const named = new Set(config.channels.flatMap(({ models }) => [...models.named.keys()]))
      const noted = new Set(notes.map(({ path }) => path))
      for (const [index, { model_name }] of model_list.entries())
        expect(named.has(model_name) || noted.has(`model_list[${index}]`)).toBe(true)
    }),
  )
})

test.each(['constructor', { toString: '' }, 5, ['x']])('a routing strategy %o is a note', routing_strategy => {
  const model_list = [{ model_name: 'm', litellm_params: { model: 'openai/m', api_key: 'os.environ/OPENAI_API_KEY' } }]
  const { text, notes } = litellm({ model_list, router_settings: { routing_strategy } })
  expect(notes).toMatchObject([{ path: expect.stringContaining('routing_strategy') }])
  expect(modelsOf(read(text))).toEqual(['openai: m>m'])
})

test.each(['litellm', 'new-api', 'one-api', 'portkey'])(
  'rubbish is an error or notes, and never a crash: %s',
  gateway => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        try {
          importConfig(gateway, JSON.stringify(value), 'file')
        } catch (thrown) {
          expect((thrown as Error).message).toBe(`file contains no ${gateway} channels`)
        }
      }),
    )
  },
)

test('a file with variables of a shell, which the other gateway does not replace, is named as a template', () => {
  const entry = (api_key: string) => ({
    model_list: [{ model_name: 'a', litellm_params: { model: 'gpt-5.6', api_key } }],
  })
  expect(litellm(entry(`\${KEY}`)).notes).toEqual([{ path: 'text', text: expect.stringContaining('stay texts') }])
  expect(litellm(entry('os.environ/KEY')).notes).toEqual([])
})
