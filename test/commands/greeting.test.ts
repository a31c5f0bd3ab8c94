import { afterEach, expect, test, vi } from 'vitest'
import type { FirstStart } from '../../src/commands/first-start.ts'
import { greeting } from '../../src/commands/greeting.ts'
import { unusedKeys } from '../../src/config/environment.ts'
import { defaultConfig, readConfig } from '../../src/config/read.ts'
import { keyOf } from '../store/access-follower.ts'

afterEach(() => vi.unstubAllEnvs())

const greeted = (text?: string): string =>
  greeting(
    'http://127.0.0.1:1',
    text === undefined ? defaultConfig({}) : readConfig(text, {}),
    { storedKeys: [keyOf('k')] },
    '1.0',
  )

test.each([
  ['start', '`npm start -- keys create NAME`'],
  [undefined, '`interlingua keys create NAME`'],
])('the commands it names can be pasted: begun by npm as %j, %s', (event, command) => {
  vi.stubEnv('npm_lifecycle_event', event)
  expect(greeted()).toContain(command)
})

test('keys that cannot be read are not said to be none', () => {
  const told = greeting('http://127.0.0.1:1', defaultConfig({}), { storedKeys: [], storeUnreadable: true }, '1.0')
  expect(told).toContain('unknown while the store is unavailable')
  expect(told).not.toContain('Stored keys cannot be shown')
})

test('a gateway without channels says so, and offers nothing to try that must fail', () => {
  expect(greeted('channels: []')).toContain('none: no channel is configured')
  expect(greeted('channels: []')).not.toContain('/v1/chat/completions')
})

test('with TLS, what is to be tried names the public address, which the certificate is for', () => {
  const channel =
    'channels: [{ name: a, provider: custom, base_url: "http://127.0.0.1:9/v1", formats: [chat], models: [m] }]'
  const server = 'tls: { cert: c.pem, key: k.pem }, public_url: ["https://ai.example.org", "https://b.example.org"]'
  const text = greeted(`server: { ${server} }\n${channel}`)
  expect(text).toContain('listens on http://127.0.0.1:1\n')
  expect(text).toContain("curl -s 'https://ai.example.org/v1/chat/completions'")
})

const channelNamed = (name: string, models: string): string =>
  `{ name: ${name}, provider: custom, base_url: "http://127.0.0.1:9/v1", formats: [chat], models: ${models} }`

test.each<[string, FirstStart]>([
  ['a key and a password that were just made', { created: 'il-new', storedKeys: [], password: 'abcde-fghjk' }],
  ['keys of before, and a password that was just made', { storedKeys: [keyOf('k')], password: 'abcde-fghjk' }],
  ['keys that cannot be read', { storedKeys: [], storeUnreadable: true }],
])('it is at most nine lines, with %s', (_, first) => {
  const many = Array.from({ length: 30 }, (_, at) => channelNamed(`c${at}`, '["*"]'))
  const text = greeting(
    'http://127.0.0.1:1',
    readConfig(`channels: [${many.join(', ')}]`, {}),
    first,
    '1.0',
    unusedKeys({ AZURE_OPENAI_API_KEY: 'a' }),
  )
  expect(text).toContain('as MODEL:')
  expect(text.split('\n').length).toBeLessThanOrEqual(9)
  expect(text).toContain('console  http://127.0.0.1:1/console/')
  expect(text.includes('as admin with the password abcde-fghjk')).toBe(first.password !== undefined)
})

test('it counts the models of each channel', () => {
  const channels = [channelNamed('a', '[m, n]'), channelNamed('b', '[m, "*"]'), channelNamed('c', '["x-*"]')]
  expect(greeted(`channels: [${channels.join(', ')}]`)).toContain(
    'models   2 of a, 1 of b and all that it lists, all that c lists\n',
  )
})

test('without the page of the console it says how to have it, and names no address and password', () => {
  const first: FirstStart = { created: 'il-new', storedKeys: [], consoleNotBuilt: true }
  const lines = greeting('http://127.0.0.1:1', defaultConfig({}), first, '1.0').split('\n')
  expect(lines.filter(line => /console|password/.test(line))).toEqual([
    'console  is not built. To build it, run `npm ci --include=dev` in the Interlingua folder.',
  ])
})

test('a key that was just made is exported under the name that examples use', () => {
  const text = greeting('http://127.0.0.1:1', defaultConfig({}), { created: 'il-new', storedKeys: [] }, '1.0')
  expect(text).toContain('export INTERLINGUA_KEY=il-new')
  expect(text).toContain('authorization: Bearer il-new')
  expect(greeted()).toContain('export INTERLINGUA_KEY=…')
})

test('without a console it names none', () => {
  expect(greeted('console: false')).not.toContain('console')
})

test('it names the keys of the environment that became no channel, and why', () => {
  const env = { AZURE_OPENAI_API_KEY: 'a', GEMINI_API_KEY: 'b' }
  const text = greeting('http://127.0.0.1:1', defaultConfig(env), { storedKeys: [keyOf('k')] }, '1.0', unusedKeys(env))
  expect(text).toContain('models   all that google lists\n')
  expect(text).toMatch(/^unused +AZURE_OPENAI_API_KEY, as AZURE_OPENAI_\w+ is not set$/m)
})
