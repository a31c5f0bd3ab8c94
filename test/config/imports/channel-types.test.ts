import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import type { ChannelConfig } from '../../../src/config/types.ts'

/*
 * A channel of new-api or one-api keeps the host of its key, the path and the upstream's name of each model. Many of
 * their vendors have one host in China and one elsewhere, and a key of the one is not valid at the other.
 */

const OWN = 'https://own.example.org'

/** The usual host of a type's channels, and the base URL of Chat Completions below it, as the program calls it. */
const CHAT: readonly (readonly [program: string, type: number, host: string, path: string])[] = [
  ['new-api', 1, 'https://api.openai.com', '/v1'],
  ['new-api', 17, 'https://dashscope.aliyuncs.com', '/compatible-mode/v1'],
  ['new-api', 20, 'https://openrouter.ai/api', '/v1'],
  ['new-api', 25, 'https://api.moonshot.cn', '/v1'],
  ['new-api', 26, 'https://open.bigmodel.cn', '/api/paas/v4'],
  ['new-api', 27, 'https://api.perplexity.ai', ''],
  ['new-api', 35, 'https://api.minimax.chat', '/v1'],
  ['new-api', 40, 'https://api.siliconflow.cn', '/v1'],
  ['new-api', 42, 'https://api.mistral.ai', '/v1'],
  ['new-api', 48, 'https://api.x.ai', '/v1'],
  ['one-api', 1, 'https://api.openai.com', '/v1'],
  ['one-api', 17, 'https://dashscope.aliyuncs.com', '/compatible-mode/v1'],
  ['one-api', 25, 'https://api.moonshot.cn', '/v1'],
  ['one-api', 27, 'https://api.minimax.chat', '/v1'],
  ['one-api', 28, 'https://api.mistral.ai', '/v1'],
  ['one-api', 29, 'https://api.groq.com/openai', '/v1'],
  ['one-api', 39, 'https://api.together.xyz', '/v1'],
  ['one-api', 44, 'https://api.siliconflow.cn', '/v1'],
]

const KEY = { key: 'k', status: 1, id: 1, name: 'one' }

function channelOf(program: string, fields: object): ChannelConfig {
  const { text, channels } = importConfig(program, JSON.stringify([{ ...KEY, models: 'm', ...fields }]), 'file')
  expect(channels, text).toBe(1)
  return readConfig(text, {}).channels[0]!
}

const chatUrl = ({ formats }: ChannelConfig) => formats.find(({ format }) => format === 'chat')?.baseUrl

describe('the requests of a channel go where its program sent them', () => {
  test.each(CHAT)('%s, type %d: %s%s', (program, type, host, path) => {
    expect(chatUrl(channelOf(program, { type }))).toBe(host + path)
    expect(chatUrl(channelOf(program, { type, base_url: '' }))).toBe(host + path)
    for (const own of [host, OWN, `${OWN}/`])
      expect(chatUrl(channelOf(program, { type, base_url: own }))).toBe(own.replace(/\/$/, '') + path)
  })

  test.each([
    [25, 'https://api.moonshot.cn', '/anthropic'],
    [26, 'https://open.bigmodel.cn', '/api/anthropic'],
  ])('also in Messages: type %d', (type, host, path) => {
    for (const base_url of [undefined, host]) {
      const { formats } = channelOf('new-api', { type, base_url })
      expect(formats.find(({ format }) => format === 'messages')?.baseUrl).toBe(host + path)
    }
  })

  test.each([
    [26, 'glm-coding-plan', 'https://open.bigmodel.cn/api/coding/paas/v4'],
    [26, 'glm-coding-plan-international', 'https://api.z.ai/api/coding/paas/v4'],
    [25, 'kimi-coding-plan', 'https://api.kimi.com/coding/v1'],
  ])('type %d at the plan %s', (type, base_url, expected) => {
    expect(chatUrl(channelOf('new-api', { type, base_url }))).toBe(expected)
  })

  test.each(['new-api', 'one-api'])('a channel of %s at its own address does all kinds of work', program => {
    const { formats } = channelOf(program, { type: 1, base_url: OWN })
    const names = formats.map(({ format }) => format)
    for (const format of ['chat', 'embeddings', 'images', 'speech', 'transcriptions', 'rerank'])
      expect(names).toContain(format)
  })
})

describe('a page of the list', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ ...KEY, id, name: `n${id}`, type: 1, models: `m${id}` }))
  const notesOf = (program: string, file: unknown) =>
    importConfig(program, JSON.stringify(file), 'file').notes.map(({ path }) => path)

  test('of new-api with fewer channels than its total is named as such', () => {
    const page = (from: number, count: number) => ({ data: { items: rows(250).slice(from, count), total: 250 } })
    expect(notesOf('new-api', page(0, 100))).toEqual(['data'])
    expect(notesOf('new-api', page(0, 250))).toEqual([])
    const pages = [page(0, 100), page(100, 200), page(200, 250)]
    expect(notesOf('new-api', pages)).toEqual([])
    expect(importConfig('new-api', JSON.stringify(pages), 'file').channels).toBe(250)
    expect(notesOf('new-api', pages.slice(1))).toEqual(['data'])
  })

  test('of one-api with ten channels may be the first of many', () => {
    expect(notesOf('one-api', { data: rows(10) })).toEqual(['data'])
    expect(notesOf('one-api', { data: rows(9) })).toEqual([])
    expect(notesOf('one-api', rows(10))).toEqual([])
  })
})

describe('a model has the name that its program sends', () => {
  const models = (program: string, fields: object) => Object.fromEntries(channelOf(program, fields).models.named)
  const mapping = { models: 'a,d,e', model_mapping: '{"a":"b","b":"c","d":"e","e":"d"}', type: 1 }

  test('new-api follows chains, to the end', () => {
    expect(models('new-api', mapping)).toEqual({ a: 'c', d: 'd', e: 'e' })
  })

  test('one-api maps a name once', () => {
    expect(models('one-api', mapping)).toEqual({ a: 'b', d: 'e', e: 'd' })
  })

  test.each([
    ['one-api', {}, 'gpt-41'],
    ['new-api', { created_time: 1_740_000_000 }, 'gpt-41'],
    ['new-api', { created_time: 1_750_000_000 }, 'gpt-4.1'],
  ])('deployments of Azure of %s with %j', (program, fields, expected) => {
    const azure = { type: 3, base_url: 'https://r.openai.azure.com', other: '2024-10-21', models: 'gpt-4.1,x' }
    expect(models(program, { ...azure, ...fields })).toEqual({ 'gpt-4.1': expected, x: 'x' })
  })
})

test('a channel of new-api without a weight stands by where others have one', () => {
  const rows = [
    { ...KEY, name: 'a', models: 'm', weight: 5 },
    { ...KEY, name: 'b', models: 'm,n', weight: 0 },
    { ...KEY, name: 'c', models: 'n', weight: 0 },
    { ...KEY, name: 'd', models: 'm', weight: 0, priority: -1 },
  ].map(row => ({ ...row, type: 1 }))
  const { text } = importConfig('new-api', JSON.stringify(rows), 'file')
  expect(readConfig(text, {}).channels.map(({ weight }) => weight)).toEqual([5, 0, 1, 1])
})

test.each([
  [
    'litellm',
    { model_list: [{ model_name: 'm', litellm_params: { model: 'openai/m', api_base: OWN, api_key: 'k' } }] },
  ],
  ['portkey', { provider: 'openai', api_key: 'k', custom_host: OWN }],
])('an address of its own does all kinds of work: %s', (gateway, file) => {
  const { text } = importConfig(gateway, JSON.stringify(file), 'file')
  const names = readConfig(text, {}).channels[0]!.formats.map(({ format }) => format)
  for (const format of ['chat', 'embeddings', 'images', 'speech', 'transcriptions', 'rerank'])
    expect(names).toContain(format)
})

test.each([
  [
    'litellm',
    (api_base: string) => ({
      model_list: [{ model_name: 'm', litellm_params: { model: 'openai/m', api_base, api_key: 'k' } }],
    }),
  ],
  ['portkey', (custom_host: string) => ({ provider: 'openai', api_key: 'k', custom_host })],
  ['new-api', (base: string) => [{ ...KEY, type: 1, models: 'm', base_url: base.replace('/v1', '') }]],
])('the address of the vendor itself has the formats of its preset: %s', (gateway, fileAt) => {
  const { text } = importConfig(gateway, JSON.stringify(fileAt('https://api.openai.com/v1')), 'file')
  const { provider, formats } = readConfig(text, {}).channels[0]!
  expect([provider, formats[0]!.format, formats[0]!.baseUrl]).toEqual([
    ...['openai', 'responses', 'https://api.openai.com/v1'],
  ])
})

describe('an entry of LiteLLM goes where LiteLLM sends it', () => {
  const importEntry = (litellm_params: object) =>
    importConfig('litellm', JSON.stringify({ model_list: [{ model_name: 'm', litellm_params }] }), 'file')
  const channelOfEntry = (params: object) =>
    readConfig(importEntry(params).text, { AWS_REGION: 'eu-west-1' }).channels[0]!

  test.each([
    [{ model: 'bedrock/us-east-1/anthropic.claude-v2' }, 'anthropic.claude-v2', 'us-east-1'],
    [{ model: 'bedrock/converse/us.amazon.nova-pro-v1:0' }, 'us.amazon.nova-pro-v1:0', 'eu-west-1'],
    [{ model: 'bedrock/us-gov-west-1/a.b', aws_region_name: 'us-gov-east-1' }, 'a.b', 'us-gov-east-1'],
    [
      { model: 'bedrock/anthropic.claude-v2', model_id: 'arn:aws:bedrock:x:1:p/y' },
      'arn:aws:bedrock:x:1:p/y',
      'eu-west-1',
    ],
  ])('%j', (params, model, region) => {
    const { models, formats } = channelOfEntry(params)
    expect([models.named.get('m'), formats[0]!.baseUrl]).toEqual([model, expect.stringContaining(`.${region}.`)])
  })

  test('the id of a provisioned model has no price, unless the file has one', () => {
    const params = { model: 'bedrock/anthropic.claude-v2', model_id: 'arn:aws:bedrock:x:1:p/y' }
    expect(importEntry(params).notes.map(({ path }) => path)).toEqual(['model_list[0].litellm_params.model_id'])
    expect(importEntry({ ...params, input_cost_per_token: 1e-6 }).notes).toEqual([])
  })

  test.each([
    ['openai/responses/gpt-5.6', {}],
    ['responses/gpt-5.6', { custom_llm_provider: 'openai' }],
    ['openai/responses/gpt-5.6', { api_base: OWN }],
  ])('%s with %j in the Responses format', (model, more) => {
    const { models, formats } = channelOfEntry({ model, api_key: 'k', ...more })
    expect([models.named.get('m'), formats.map(({ format }) => format)]).toEqual(['gpt-5.6', ['responses']])
  })

  test('a model that names its provider with each request is left out, because its prompts are for many', () => {
    const file = { model_list: [{ model_name: '*', litellm_params: { model: '*' } }] }
    const { channels, notes } = importConfig('litellm', JSON.stringify(file), 'file')
    expect([channels, notes.map(({ path }) => path)]).toEqual([0, ['model_list[0]']])
  })

  test('the complete address of Messages', () => {
    const { formats } = channelOfEntry({ model: 'anthropic/m', api_key: 'k', api_base: `${OWN}/v1/messages` })
    expect(formats[0]!.baseUrl).toBe(OWN)
  })

  test('credentials of Google that are the content of a key file', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = { client_email: 'a@b.c', private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
    const { auth } = channelOfEntry({
      ...{ model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p', vertex_location: 'l' },
      vertex_credentials: JSON.stringify(key),
    })
    expect(auth).toMatchObject({ type: 'google-service-account', account: { email: 'a@b.c' } })
  })
})

test.each([
  { provider: 'moonshot', api_key: 'k' },
  { integrations: [{ provider: 'moonshot', slug: 's', credentials: { apiKey: 'k' } }] },
])('Moonshot of Portkey is the one in China: %j', file => {
  const { text } = importConfig('portkey', JSON.stringify(file), 'file')
  expect(chatUrl(readConfig(text, {}).channels[0]!)).toBe('https://api.moonshot.cn/v1')
})

describe('the proxy of a channel of new-api', () => {
  const withSetting = (setting: unknown) =>
    importConfig('new-api', JSON.stringify([{ id: 1, type: 1, key: 'k', models: 'm', setting }]), 'file')

  test.each(['http://proxy.internal:3128', 'https://user:pass@proxy.internal'])('%s is that of the channel', proxy => {
    const { text, notes } = withSetting(JSON.stringify({ force_format: false, proxy }))
    expect(text).toContain(`proxy: ${proxy}\n`)
    expect(notes).toEqual([])
    expect(withSetting(JSON.stringify({ thinking_to_content: true, proxy })).notes).toHaveLength(1)
  })

  test('that no channel can use leaves the channel out, which would reach its upstream directly', () => {
    const { channels, notes } = withSetting('{"proxy":"socks5://proxy.internal:1080"}')
    expect([channels, notes]).toEqual([0, [{ path: '[0] (channel-1)', text: expect.stringContaining('its proxy') }]])
  })

  test.each(['', '{}', 'null', '{"proxy":""}', null])('does not exist in %j', setting => {
    expect(withSetting(setting)).toMatchObject({ channels: 1, notes: [] })
  })
})
