import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import type { ChannelConfig } from '../../../src/config/types.ts'

/* Where Portkey's gateway sends the requests of a config: what version 1.15.2 sent to a server on the loopback (2026-11-30). */

const OWN = 'https://own.example.org'
const imported = (config: object) => importConfig('portkey', JSON.stringify(config), 'config.json')
const channelsOf = (config: object) => readConfig(imported(config).text, {}).channels
const channelOf = (target: object): ChannelConfig => channelsOf(target)[0]!
const addressOf = ({ formats }: ChannelConfig, format: string): string | undefined =>
  formats.find(one => one.format === format)?.baseUrl
const pathsOf = (config: object) => imported(config).notes.map(({ path }) => path)

test('a target of OpenAI at the address of another vendor is a channel of that vendor, with its prices', () => {
  const custom_host = 'https://api.groq.com/openai/v1'
  expect(channelOf({ provider: 'openai', api_key: 'k', custom_host })).toMatchObject({ provider: 'groq', key: 'k' })
})

describe('a host of a target has the paths that Portkey appends', () => {
  const plain = [
    'openai',
    'groq',
    'mistral-ai',
    'x-ai',
    'z-ai',
    'dashscope',
    'perplexity-ai',
    'fireworks-ai',
    'azure-ai',
  ]
  const below = ['deepseek', 'moonshot', 'openrouter', 'together-ai', 'novita-ai', 'sambanova', 'hyperbolic', 'ollama']
  test.each([...plain.map(one => [one, `${OWN}/a`]), ...below.map(one => [one, `${OWN}/a/v1`])])(
    '%s: %s',
    (provider, address) => {
      expect(addressOf(channelOf({ provider, api_key: 'k', custom_host: `${OWN}/a` }), 'chat')).toBe(address)
    },
  )

  test.each<[provider: string, format: string, address: string, others: object]>([
    ['cohere', 'cohere-chat', `${OWN}/a`, {}],
    ['bedrock', 'converse', `${OWN}/a`, { aws_access_key_id: 'i', aws_secret_access_key: 's' }],
    [
      'vertex-ai',
      'contents',
      `${OWN}/a/v1/projects/p/locations/r/publishers/google`,
      { vertex_project_id: 'p', vertex_region: 'r' },
    ],
  ])('%s speaks its own format at its host', (provider, format, address, others) => {
    const channel = channelOf({ provider, api_key: 'k', custom_host: `${OWN}/a`, ...others })
    expect(addressOf(channel, format)).toBe(address)
  })

  test('deployments of Azure are below the host', () => {
    const target = { provider: 'azure-openai', api_key: 'k', deployment_id: 'd', api_version: '2024-06-01' }
    const channel = channelOf({ ...target, custom_host: `${OWN}/apim/openai` })
    expect([channel.provider, addressOf(channel, 'chat')]).toEqual([
      'azure-deployments',
      `${OWN}/apim/openai/deployments`,
    ])
    expect(imported({ ...target, custom_host: OWN })).toMatchObject({ channels: 0, notes: [{ path: 'provider' }] })
  })

  test.each(['huggingface', 'workers-ai', 'reka-ai', 'bytez', 'replicate'])('%s has no channel there', provider => {
    expect(imported({ provider, api_key: 'k', custom_host: OWN })).toMatchObject({ channels: 0 })
  })
})

test.each([
  ['perplexity-ai', 'https://api.perplexity.ai'],
  ['fireworks-ai', 'https://api.fireworks.ai/inference/v1'],
  ['sambanova', 'https://api.sambanova.ai/v1'],
  ['zhipu', 'https://open.bigmodel.cn/api/paas/v4'],
  ['nebius', 'https://api.studio.nebius.ai/v1'],
])('%s is at the address that Portkey knows', (provider, address) => {
  expect(addressOf(channelOf({ provider, api_key: 'k' }), 'chat')).toBe(address)
})

describe('a target keeps its account', () => {
  const AZURE = { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd', api_version: '2024-06-01' }
  const VERTEX = { provider: 'vertex-ai', vertex_project_id: 'p', vertex_region: 'r' }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ACCOUNT = { client_email: 'a@b.c', private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  const ENTRA = { azure_entra_tenant_id: 't', azure_entra_client_id: 'c', azure_entra_client_secret: 's' }

  test.each<[target: object, auth: object]>([
    [
      { ...AZURE, azure_auth_mode: 'entra', ...ENTRA },
      { type: 'azure-client', tenant: 't', clientId: 'c', clientSecret: 's' },
    ],
    [
      { ...AZURE, azure_auth_mode: 'managed', azure_managed_client_id: 'c', azure_entra_scope: 'own' },
      { type: 'azure-managed', clientId: 'c', scope: 'own' },
    ],
    [{ ...VERTEX, vertex_service_account_json: ACCOUNT }, { type: 'google-service-account' }],
    [VERTEX, { type: 'google-default' }],
  ])('%o', (target, auth) => {
    expect(channelOf(target).auth).toMatchObject(auth)
    expect(pathsOf(target)).toEqual([])
  })

  test('a token of Google is the key', () => {
    expect(channelOf({ ...VERTEX, api_key: 'ya29.token' })).toMatchObject({ key: 'ya29.token' })
  })

  test('the project of a service account comes before that of the target', () => {
    const account = { ...ACCOUNT, project_id: 'of-account' }
    expect(addressOf(channelOf({ ...VERTEX, vertex_service_account_json: account }), 'contents')).toContain(
      '/projects/of-account/',
    )
  })

  test.each<[lost: string, target: object]>([
    ['azure_ad_token', { ...AZURE, azure_ad_token: 't', api_key: 'k' }],
    ['azure_auth_mode', { ...AZURE, azure_auth_mode: 'workload' }],
    ['aws_auth_type', { provider: 'bedrock', api_key: 'k', aws_auth_type: 'assumedRole' }],
    ['huggingface_base_url', { provider: 'huggingface', api_key: 'k', huggingface_base_url: OWN }],
  ])('without its %s, it has no channel', (lost, target) => {
    const { channels, notes } = imported(target)
    expect([channels, notes.at(-1)!.text]).toEqual([0, expect.stringContaining(lost)])
  })

  test('its organization and project of OpenAI are headers', () => {
    const { formats } = channelOf({
      ...{ provider: 'openai', api_key: 'k', openai_organization: 'o', openai_project: 'p' },
    })
    expect(formats[0]!.headers).toMatchObject({ 'openai-organization': 'o', 'openai-project': 'p' })
  })

  test('fields in camelCase are the same fields', () => {
    const target = { provider: 'openai', apiKey: 'k', customHost: `${OWN}/v1`, overrideParams: { model: 'm' } }
    const channel = channelOf({ ...target, requestTimeout: 5000 })
    expect([addressOf(channel, 'chat'), channel.timeout.whole]).toEqual([`${OWN}/v1`, 5000])
    expect(channel.models.named.get('portkey')).toBe('m')
  })
})

describe('a model of a cloud', () => {
  const AZURE = { provider: 'azure-openai', api_key: 'k', resource_name: 'r', deployment_id: 'd' }

  test('is the deployment of Azure, whatever the parameter says', () => {
    const channel = channelOf({ ...AZURE, override_params: { model: 'gpt-4o' } })
    expect(channel.models.named.get('portkey')).toBe('d')
  })

  test('is in the body of Azure’s current API', () => {
    const channel = channelOf({ ...AZURE, api_version: 'v1' })
    expect([channel.provider, addressOf(channel, 'chat')]).toEqual([
      'azure-openai',
      'https://r.openai.azure.com/openai/v1',
    ])
  })

  test('has its maker before its name at Vertex AI', () => {
    const at = (model: string) => ({
      ...{ provider: 'vertex-ai', vertex_project_id: 'p', vertex_region: 'r', override_params: { model } },
    })
    const claude = channelOf(at('anthropic.claude-sonnet-4@20250514'))
    expect([claude.provider, claude.models.named.get('portkey')]).toEqual(['vertex-claude', 'claude-sonnet-4@20250514'])
    expect(channelOf(at('google.gemini-2.5-pro')).models.named.get('portkey')).toBe('gemini-2.5-pro')
    expect(imported(at('meta.llama-4'))).toMatchObject({ channels: 0 })
  })
})

/** A condition that leads to a target. An object with the property `then` looks like a promise. */
const leads = (query: object, target: string) =>
  Object.fromEntries([
    ['query', query],
    ['then', target],
  ])

describe('names for callers', () => {
  const OPENAI = { provider: 'openai', api_key: 'a' }
  const GROQ = { provider: 'groq', api_key: 'b', override_params: { model: 'llama' } }
  const namesOf = (config: object) =>
    channelsOf(config).map(({ name, models: { named, patterns } }) => [name, Object.fromEntries(named), patterns])

  test('a target with a model answers for every name beside one without', () => {
    const { text } = imported({ strategy: { mode: 'fallback' }, targets: [OPENAI, GROQ] })
    expect(text).toContain('"*": llama')
  })

  test('a target with the weight 0 gets no requests', () => {
    const config = {
      strategy: { mode: 'loadbalance' },
      targets: [
        { ...OPENAI, weight: 0 },
        { ...GROQ, weight: 1 },
      ],
    }
    expect(channelsOf(config).map(({ name }) => name)).toEqual(['groq'])
    expect(pathsOf(config)).toEqual(['targets[0].weight'])
  })

  test('a condition on the model is a name, and another condition a name of its own', () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          leads({ 'params.model': { $eq: 'fast' } }, 'groq'),
          leads({ $or: [{ 'params.model': 'quick' }, { 'params.model': { $in: ['swift'] } }] }, 'groq'),
          leads({ 'metadata.plan': { $eq: 'paid' } }, 'paid'),
        ],
        default: 'rest',
      },
      targets: [
        { ...OPENAI, name: 'paid', override_params: { model: 'gpt-5.6' } },
        { ...GROQ, name: 'groq' },
        { ...OPENAI, name: 'rest', override_params: { model: 'gpt-5.6-mini' } },
        { ...OPENAI, name: 'lonely' },
      ],
    }
    expect(namesOf(config).map(([, named]) => named)).toEqual([
      { paid: 'gpt-5.6' },
      { fast: 'llama', quick: 'llama', swift: 'llama' },
      { portkey: 'gpt-5.6-mini' },
    ])
    expect(pathsOf(config)).toEqual(['strategy.conditions[2]', 'targets[3]'])
  })

  test('a default target without a model comes after those of the conditions', () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [leads({ 'metadata.plan': 'paid' }, 'paid')],
        default: 'rest',
      },
      targets: [
        { ...OPENAI, name: 'rest' },
        { ...OPENAI, api_key: 'c', name: 'paid' },
      ],
    }
    const { text } = imported(config)
    expect(text).toContain('paid/*: "*"')
    expect(channelsOf(config).map(({ priority }) => priority)).toEqual([0, 1])
  })

  test('a condition on the model that leads to the default keeps its name', () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          leads({ 'params.model': { $eq: 'fast' } }, 'groq'),
          leads({ 'params.model': { $eq: 'main' } }, 'rest'),
        ],
        default: 'rest',
      },
      targets: [
        { ...GROQ, name: 'groq' },
        { ...OPENAI, name: 'rest', override_params: { model: 'gpt-5.6' } },
      ],
    }
    expect(namesOf(config).map(([, named]) => named)).toEqual([
      { fast: 'llama' },
      { main: 'gpt-5.6', portkey: 'gpt-5.6' },
    ])
  })

  test('the first condition on a model decides, whatever the order of the targets', () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          leads({ 'params.model': { $in: ['fast', 'quick'] } }, 'groq'),
          leads({ 'params.model': { $in: ['fast', 'slow'] } }, 'other'),
        ],
        default: 'rest',
      },
      targets: [
        { ...OPENAI, api_key: 'c', name: 'other', override_params: { model: 'gpt-5.6-mini' } },
        { ...GROQ, name: 'groq' },
        { ...OPENAI, name: 'rest', override_params: { model: 'gpt-5.6' } },
      ],
    }
    expect(namesOf(config).map(([, named]) => named)).toEqual([
      { slow: 'gpt-5.6-mini' },
      { fast: 'llama', quick: 'llama' },
      { portkey: 'gpt-5.6' },
    ])
  })

  test('a condition that leads to the default before others is named if it is not about the model', () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          leads({ 'metadata.plan': 'free' }, 'rest'),
          leads({ 'params.model': 'fast' }, 'groq'),
          leads({ 'metadata.plan': 'none' }, 'rest'),
        ],
        default: 'rest',
      },
      targets: [
        { ...GROQ, name: 'groq' },
        { ...OPENAI, name: 'rest' },
      ],
    }
    expect(pathsOf(config)).toEqual(['strategy.conditions[0]'])
  })

  test.each(['fallback', 'loadbalance'])('names of conditions are names of the targets beside them: %s', mode => {
    const choice = {
      strategy: { mode: 'conditional', conditions: [leads({ 'params.model': 'fast' }, 'groq')], default: 'rest' },
      targets: [
        { ...GROQ, name: 'groq' },
        { ...OPENAI, name: 'rest', override_params: { model: 'gpt-5.6' } },
      ],
    }
    const mistral = { provider: 'mistral-ai', api_key: 'd', override_params: { model: 'mistral-large' } }
    expect(namesOf({ strategy: { mode }, targets: [choice, mistral] }).map(([, named]) => named)).toEqual([
      { fast: 'llama' },
      { portkey: 'gpt-5.6' },
      { fast: 'mistral-large', portkey: 'mistral-large' },
    ])
  })

  test('fallbacks of a share are named, because other shares are tried before them', () => {
    const chain = { strategy: { mode: 'fallback' }, targets: [OPENAI, { ...OPENAI, api_key: 'c' }] }
    expect(pathsOf({ strategy: { mode: 'loadbalance' }, targets: [chain, GROQ] })).toEqual(['targets[0].strategy.mode'])
    expect(pathsOf({ strategy: { mode: 'loadbalance' }, targets: [chain] })).toEqual([])
  })

  test('a weight that is no number is named', () => {
    const targets = [{ ...OPENAI, weight: '0.9' }, GROQ]
    expect(pathsOf({ strategy: { mode: 'loadbalance' }, targets })).toEqual(['targets[0].weight'])
  })
})
