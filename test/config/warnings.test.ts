import { expect, it } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { warnings } from '../../src/config/warnings.ts'

const CHANNELS =
  'channels: [{ name: a, provider: custom, formats: [chat], base_url: "http://localhost/v1", key: none }]\n'
const STORED = [{ name: 'made', group: 'default' }]
const warned = (text: string, stored = STORED): string[] => [...warnings(readConfig(CHANNELS + text, {}), stored)]

it.each([
  ['one key in no group', 'keys: [{ name: dev, key: k }]', 'dev'],
  ['a key that names the group nobody declared', 'keys: [{ name: dev, key: k, group: default }]', 'dev'],
  [
    'keys beside declared groups, with those of the key file',
    'groups: { few: { rpm: 1 } }\nkeys: [{ name: dev, key: k }, { name: kid, key: l, group: few }]',
    'dev, made',
  ],
])('is told: %s', (_, text, names) => {
  const told = warned(text)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('"default" is not declared')
  expect(told[0]).toContain(`(${names})`)
})

it.each([
  ['no key and no group in the config', ''],
  ['the group declared', 'groups: { default: {} }\nkeys: [{ name: dev, key: k }]'],
  ['the group declared with limits', 'groups: { default: { rpm: 1 } }\nkeys: [{ name: dev, key: k }]'],
])('is not told: %s', (_, text) => {
  expect(warned(text)).toEqual([])
})

it('is not told of keys in groups of their own', () => {
  const text = 'groups: { few: { rpm: 1 } }\nkeys: [{ name: kid, key: l, group: few }]'
  expect(warned(text, [{ name: 'made', group: 'few' }])).toEqual([])
})

it.each([
  ['2026-10-21', []],
  ['caller', []],
  ['"10"', ['channel b: the version of messages must be a date such as 2023-06-01, or caller']],
])('checks the version of messages: %s', (version, told) => {
  const channel = `{ name: b, provider: custom, formats: [messages], base_url: "http://localhost", key: none`
  const text = `channels: [${channel}, models: [m], dialect: { version: ${version} } }]`
  expect([...warnings(readConfig(text, {}), [])].filter(line => line.includes('version'))).toEqual(told)
})

it('is told of quotes around a key of the environment, which files of Docker keep', () => {
  const config = readConfig('channels: [{ name: a, provider: openai }]', { OPENAI_API_KEY: '"sk-abc"' })
  expect([...warnings(config)]).toEqual([
    'channel a: its key has quotes around it: remove them where the variable is set',
  ])
})

it.each([
  ['a group', 'groups: { few: { channels: [a, b, "a*", "c*"] } }', 'group few: no channel is named', ['b', 'c*']],
  ['a group', 'groups: { few: { models: [m, n, "*"] } }', 'group few: no channel has the model', ['n']],
  ['the settings', 'models: { m: {}, n: { context: 5 } }', 'model n: no channel has it', []],
])('is told of names in %s that no channel has: %s', (_, text, message, names) => {
  const channel = 'name: a, provider: custom, formats: [chat], base_url: "http://localhost/v1", key: none'
  const told = [...warnings(readConfig(`channels: [{ ${channel}, models: [m] }]\n${text}`, {}))]
  expect(told).toEqual(names.length === 0 ? [message] : names.map(name => `${message} "${name}"`))
  expect(warned(text, []).filter(one => one.includes('model'))).toEqual([])
})

it.each(['/v1/chat/completions', '/v1/messages', '/v1/embeddings/'])('is told of an address with the path %s', path => {
  const channel = 'name: a, provider: custom, formats: [chat], key: none'
  const told = [...warnings(readConfig(`channels: [{ ${channel}, base_url: "http://localhost${path}" }]`, {}))]
  expect(told).toEqual([expect.stringMatching(/^channel a: base_url ends with the path of an endpoint/)])
})

it('is told of a model whose interface is no format', () => {
  expect(
    warned('models: { m: { interface: respones } }\ngroups: { default: {} }').filter(one => one.includes('unknown')),
  ).toEqual(['model m: unknown format "respones"; did you mean "responses"?'])
  expect(warned('models: { m: { interface: responses } }\ngroups: { default: {} }').join()).not.toContain('unknown')
})

it('is told of a custom channel at the address of a vendor whose preset has prices and a dialect', () => {
  const channel = 'name: a, provider: custom, formats: [chat], key: k, models: [m]'
  const told = (url: string) => [...warnings(readConfig(`channels: [{ ${channel}, base_url: "${url}" }]`, {}))]
  expect(told('https://api.groq.com/openai/v1')).toEqual([
    'channel a: "custom" has no prices and no dialect of this vendor: use "provider: groq"',
  ])
  expect(told('https://api.deepseek.com/v1')[0]).toContain('provider: deepseek')
  for (const url of ['http://127.0.0.1:11434/v1', 'https://llm.example/v1']) expect(told(url)).toEqual([])
})
