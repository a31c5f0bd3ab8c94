import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/* What new-api and one-api do with the fields of a channel (relay/ and model/ of both, read on 2026-11-30). */

const OWN = 'https://own.example.org'
const CHANNEL = { id: 1, type: 1, status: 1, name: 'one', key: 'k', models: 'm', base_url: OWN }
const imported = (fields: object, program = 'new-api') =>
  importConfig(program, JSON.stringify([{ ...CHANNEL, ...fields }]), 'channels.json')
const ENV = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`ONE_KEY_${index}`, `k${index}`]))
const channelOf = (fields: object, program?: string) => readConfig(imported(fields, program).text, ENV).channels[0]!
const chatUrl = (fields: object, program?: string) =>
  channelOf(fields, program).formats.find(({ format }) => format === 'chat')?.baseUrl

describe.each(['new-api', 'one-api'])('the gateway of Cloudflare in a channel of %s', program => {
  const GATEWAY = 'https://gateway.ai.cloudflare.com/v1/account/gateway'

  test('has the version before the name of the vendor', () => {
    expect(chatUrl({ base_url: `${GATEWAY}/openai` }, program)).toBe(`${GATEWAY}/openai`)
    const { formats } = channelOf({ type: 14, base_url: `${GATEWAY}/anthropic` }, program)
    expect(formats[0]!.baseUrl).toBe(`${GATEWAY}/anthropic`)
  })

  test('has other paths in front of Azure than a channel', () => {
    expect(imported({ type: 3, base_url: `${GATEWAY}/azure-openai/r` }, program)).toMatchObject({ channels: 0 })
  })
})

test.each([
  ['new-api', 31, 'https://api.lingyiwanwu.com/v1'],
  ['new-api', 45, 'https://ark.cn-beijing.volces.com/api/v3'],
  ['new-api', 46, 'https://qianfan.baidubce.com/v2'],
  ['one-api', 19, 'https://ai.360.cn/v1'],
  ['one-api', 26, 'https://api.baichuan-ai.com/v1'],
  ['one-api', 31, 'https://api.lingyiwanwu.com/v1'],
  ['one-api', 32, 'https://api.stepfun.com/v1'],
  ['one-api', 40, 'https://ark.cn-beijing.volces.com/api/v3'],
  ['one-api', 41, 'https://api.novita.ai/v3/openai'],
  ['one-api', 47, 'https://qianfan.baidubce.com/v2'],
  ['one-api', 48, 'https://spark-api-open.xf-yun.com/v1'],
  ['one-api', 49, 'https://dashscope.aliyuncs.com/compatible-mode/v1'],
  ['one-api', 51, 'https://generativelanguage.googleapis.com/v1beta/openai'],
])('type %2$d of %1$s is at %3$s', (program, type, address) => {
  expect(chatUrl({ type, base_url: '' }, program)).toBe(address)
})

describe.each(['new-api', 'one-api'])('a channel of %s at the address of a vendor is one of that vendor', program => {
  test.each([
    ['https://api.deepseek.com', 'deepseek'],
    ['https://api.groq.com/openai', 'groq'],
    ['https://api.x.ai', 'xai'],
    ['https://openrouter.ai/api', 'openrouter'],
    ['https://dashscope-intl.aliyuncs.com/compatible-mode', 'dashscope'],
  ])('%s: %s, also with the type of OpenAI', (base_url, provider) => {
    expect(channelOf({ base_url }, program)).toMatchObject({ provider, key: 'k' })
  })

  test.each([
    ['https://api.deepseek.com/anthropic', 'deepseek'],
    ['https://api.z.ai/api/anthropic', 'zai'],
  ])('%s: %s, which speaks Messages there', (base_url, provider) => {
    const { formats, ...channel } = channelOf({ type: 14, base_url }, program)
    expect(channel).toMatchObject({ provider, key: 'k' })
    expect(formats).toMatchObject([{ format: 'messages', baseUrl: base_url }])
  })

  test('whose type has the address with a version', () => {
    const type = program === 'new-api' ? 43 : 36
    expect(channelOf({ type, base_url: 'https://api.deepseek.com/' }, program).provider).toBe('deepseek')
  })
})

/* Requests of such channels go to the address itself (relay/channel/openai/adaptor.go of new-api, read on 2026-12-01). */
describe('a channel of new-api with the complete address of requests', () => {
  test('is one of Chat Completions', () => {
    expect(chatUrl({ type: 8, base_url: `${OWN}/a/chat/completions` })).toBe(`${OWN}/a`)
  })

  test.each([`${OWN}/a`, `${OWN}/{model}/chat/completions`, `${OWN}/v1/responses`])('%s is a note', base_url => {
    expect(imported({ type: 8, base_url })).toMatchObject({
      channels: 0,
      notes: [{ text: expect.stringContaining('complete address') }],
    })
  })
})

describe('a name that new-api reads as a model and an effort', () => {
  test.each([
    ['gpt-5-high', 'gpt-5'],
    ['gpt-5.1-codex-xhigh', 'gpt-5.1-codex'],
    ['o3-mini-low', 'o3-mini'],
    ['claude-opus-4-6-max', 'claude-opus-4-6'],
    ['claude-3-7-sonnet-20250219-thinking', 'claude-3-7-sonnet-20250219'],
    ['gemini-2.5-flash-nothinking', 'gemini-2.5-flash'],
    ['gemini-2.5-pro-thinking-128', 'gemini-2.5-pro'],
    ['grok-3-mini-high', 'grok-3-mini'],
  ])('%s is %s, with a note', (name, model) => {
    expect(channelOf({ models: name }).models.named.get(name)).toBe(model)
    expect(imported({ models: name }).notes).toMatchObject([{ text: expect.stringContaining(`"${name}"`) }])
  })

  test.each(['gpt-4o', 'deepseek-v4', 'kimi-k2-thinking', 'gemini-2.0-flash-thinking-exp', 'mistral-medium', 'o3'])(
    '%s is none',
    name => {
      expect(channelOf({ models: name }).models.named.get(name)).toBe(name)
      expect(imported({ models: name }).notes).toEqual([])
    },
  )

  test('is one only in new-api', () => {
    expect(channelOf({ models: 'gpt-5-high' }, 'one-api').models.named.get('gpt-5-high')).toBe('gpt-5-high')
  })
})

describe('a channel with many keys', () => {
  const many = (status = {}) => ({
    channel_info: { is_multi_key: true, multi_key_size: 3, multi_key_status_list: status },
  })
  const keysOf = (fields: object) => channelOf(fields).keys!.map(({ key }) => key)

  test('keeps all of them, also where the list hides them', () => {
    expect(keysOf({ key: '', ...many() })).toEqual(['k1', 'k2', 'k3'])
    expect(keysOf({ key: 'a\nb\nc', ...many() })).toEqual(['a', 'b', 'c'])
  })

  test('leaves out disabled ones', () => {
    expect(keysOf({ key: '', ...many({ 1: 2 }) })).toEqual(['k1', 'k3'])
    expect(keysOf({ key: 'a\nb\nc', ...many({ 1: 3, 2: 1 }) })).toEqual(['a', 'c'])
    expect(imported({ key: 'a\nb\nc', ...many({ 0: 2, 1: 2, 2: 2 }) })).toMatchObject({ channels: 0 })
  })
})

describe('header_override', () => {
  const headersOf = (header_override: object, fields = {}) =>
    channelOf({ header_override: JSON.stringify(header_override), ...fields }).formats[0]!.headers
  const notesOf = (header_override: object, fields = {}) =>
    imported({ header_override: JSON.stringify(header_override), ...fields }).notes.map(({ text }) => text)

  test('has the channel’s key where a header names it', () => {
    expect(headersOf({ Authorization: 'Token {api_key}' })).toMatchObject({ authorization: 'Token k' })
    expect(notesOf({ Authorization: 'Token {api_key}' })).toEqual([])
    expect(notesOf({ 'x-key': '{api_key}' }, { key: 'a\nb' })).toEqual([expect.stringContaining('x-key')])
  })

  test.each(['*', 're:^X-', 'regex:^X-', 'Re:^X-'])('%s passes headers of callers on, which is a note', name => {
    expect(notesOf({ [name]: '' })).toEqual([expect.stringContaining('allow_headers')])
    expect(notesOf({ [name]: true })).toEqual([expect.stringContaining('allow_headers')])
  })

  test('of a caller’s header is a note', () => {
    expect(notesOf({ 'x-a': '{client_header:x-a}' })).toEqual([expect.stringContaining('allow_headers')])
  })
})

describe('rows of the database', () => {
  test('have the keys of a channel as text, with those that are disabled', () => {
    const channel_info = JSON.stringify({ is_multi_key: true, multi_key_size: 3, multi_key_status_list: { 1: 2 } })
    const { keys } = channelOf({ key: 'first\nsecond\nthird', channel_info })
    expect(keys?.map(({ key }) => key)).toEqual(['first', 'third'])
  })

  const ONE_HUB = { only_chat: false, pre_cost: 1, compatible_response: false }
  const NEW_API = { auto_ban: 1, channel_info: {} }
  test.each([
    ['one-hub', 'one-api', 25, ONE_HUB],
    ['one-hub', 'new-api', 25, ONE_HUB],
    ['new-api', 'one-api', 35, NEW_API],
    ['one-api', 'new-api', 35, { config: '{}' }],
  ])('of %s have other types than %s, so that their keys would reach other vendors', (program, as, type, fields) => {
    const { channels, notes } = imported({ type, base_url: '', ...fields }, as)
    expect(channels).toBe(0)
    expect(notes).toMatchObject([{ text: expect.stringContaining(`channel of ${program}`) }])
  })

  test('are read where both programs have the same type', () => {
    expect(imported({ type: 14, ...NEW_API }, 'one-api')).toMatchObject({ channels: 1, notes: [] })
  })

  /* phpMyAdmin writes each value as a text, and the tables after two objects about the database. */
  test('in an export of phpMyAdmin have numbers as texts', () => {
    const texts = { id: '1', type: '1', status: '1', weight: '5', priority: '10', created_time: '1746000000' }
    const rows = [
      { ...CHANNEL, ...texts },
      { ...CHANNEL, ...texts, id: '2', priority: '0', name: 'later' },
      { ...CHANNEL, ...texts, status: '2' },
    ]
    const file = [
      { type: 'header', version: '5.2.1', comment: 'Export to JSON plugin for PHPMyAdmin' },
      { type: 'database', name: 'new-api' },
      { type: 'table', name: 'abilities', data: [{ group: 'default', model: 'm', channel_id: '1' }] },
      { type: 'table', name: 'channels', data: rows },
    ]
    const { text, notes } = importConfig('new-api', JSON.stringify(file), 'channels.json')
    expect(notes).toMatchObject([{ text: 'it is disabled' }])
    expect(readConfig(text, ENV).channels).toMatchObject([
      { name: 'one', weight: 5, priority: 0 },
      { name: 'later', weight: 5, priority: 1 },
    ])
  })
})
