import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readConfig } from '../../src/config/read.ts'
import { configWith, SETTINGS } from '../setting-tables.ts'

/* What the schema says of each setting: docs/settings.md and editors show it. */

const written = (path: readonly string[], value?: Parameters<typeof configWith>[1]) =>
  readConfig(stringify(configWith(path, value)), {})

test('every setting has a meaning, which is a sentence', () => {
  const faulty = SETTINGS.filter(({ meaning }) => !/^\S.*\.$/.test(meaning)).map(({ path }) => path.join('.'))
  expect(faulty).toEqual([])
  expect(SETTINGS.length).toBeGreaterThan(150)
})

describe('a default is the value that a config without the setting has', () => {
  const defaults = SETTINGS.filter(({ usual }) => usual !== undefined)
  test.each(defaults.map(({ path, usual }) => [path.join('.'), path, usual] as const))('%s', (_, path, usual) => {
    expect(written(path, usual)).toEqual(written(path))
  })

  test('a wrong default differs', () => {
    expect(written(['server', 'heartbeat'], '16s')).not.toEqual(written(['server', 'heartbeat']))
    expect(written(['channels', '[]', 'timeout', 'idle'], '61s')).not.toEqual(
      written(['channels', '[]', 'timeout', 'idle']),
    )
  })

  test('there are many', () => expect(defaults.length).toBeGreaterThan(50))
})
