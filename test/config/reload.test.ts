import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Json } from '../../src/canonical/node.ts'
import { type Config, ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'
import { TestServer } from '../builders/gateway.ts'
import { configWith, SETTINGS } from '../setting-tables.ts'

/*
 * What the check accepts, a running gateway takes: a config is refused with its faults or applied, never applied in
 * part.
 */

const WORDS: readonly Json[] = [
  ...['0', '1ms', '24d', '9999999d', 'a', '*', '.', '..', '/', '\u202e', '\n', ' ', 'é', '[', '(', '/(/', '1GiB', '0b'],
  ...['http://[::1]', 'http://u:p@127.0.0.1:9/x?y#z', 'https://a', 'constructor', '__proto__', 'x'.repeat(1000)],
  ...['redis://localhost:1', 'rediss://:x@h:1/3', 'socks5://a:1', '/nonexistent/x', '2030-01-01', '127.0.0.1', '[::1]'],
  ...['0.0.0.0/0', '::/0', '10.0.0.0/33', '1', '0x7f.1', '127.1', 'fe80::1%eth0', '::ffff:1.2.3.4', '::ffff:1.2.3.4/0'],
  ...['010.0.0.1', '10.0.0.0/08', '10.0.0.0/255.0.0.0', '1.2.3.4/0.0.0.0', 'chat', 'messages'],
]
const OTHERS: readonly Json[] = [0, 1, -1, 0.5, 65_535, 2 ** 53, 1e308, true, false, {}, [], { a: 'b' }, { a: 1 }]
const VALUES = [...WORDS, ...WORDS.map(word => [word]), ...OTHERS]

/** Settings with a value that the check accepts, and their config. */
const accepted = fc
  .tuple(fc.constantFrom(...SETTINGS), fc.constantFrom(...VALUES))
  .map(([{ path }, value]) => ({ path, value, config: configOf(path, value) }))
  .filter(({ config }) => config !== undefined)

function configOf(path: readonly string[], value: Json): Config | undefined {
  try {
    return readConfig(stringify(configWith(path, value)), {})
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined
    throw thrown
  }
}

let keep: string
let server: TestServer
beforeAll(async () => {
  keep = mkdtempSync(join(tmpdir(), 'reload-'))
  server = await TestServer.open([], { keep })
})
afterAll(async () => {
  await server.server.close(0)
  rmSync(keep, { recursive: true })
})

test('a config that the check accepts is taken by a running gateway', () => {
  const usual = server.server.config
  const path = ['server', 'trusted_proxies']
  const ranges = WORDS.map(word => ({ path, value: [word], config: configOf(path, [word]) }))
  const examples = ranges.filter(({ config }) => config !== undefined).map(range => [range] as never)
  fc.assert(
    fc.property(accepted, ({ config }) => {
      expect(() => server.server.reload(config!)).not.toThrow()
      server.server.reload(usual)
    }),
    { numRuns: Number(process.env['RUNS'] ?? 60), examples },
  )
})

test('line ends behind the value of a variable are no part of a setting', () => {
  const kept = (path: readonly string[], value: string): Config | string => {
    try {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: variables in a config look like that
      return readConfig(stringify(configWith(path, '${V}')), { V: value })
    } catch (thrown) {
      return (thrown as ConfigError).message
    }
  }
  const texts = WORDS.map(String).filter(word => word.trim() === word)
  fc.assert(
    fc.property(fc.constantFrom(...SETTINGS), fc.constantFrom(...texts), ({ path }, text) => {
      expect(kept(path, `${text}\r\n`)).toEqual(kept(path, text))
    }),
    { numRuns: Number(process.env['RUNS'] ?? 200) },
  )
})

test('nor of keys and addresses that channels take from the environment', () => {
  const env = { OPENAI_API_KEY: 'sk-abcdef', AZURE_OPENAI_API_KEY: 'k-abcdef', HTTPS_PROXY: 'http://p:1' }
  const more = { AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com/', AZURE_RESOURCE_NAME: 'x', NO_PROXY: 'a,b' }
  const all = { ...env, ...more }
  const withEnds = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, `${value}\r\n`]))
  expect(readConfig('', withEnds)).toEqual(readConfig('', all))
})
