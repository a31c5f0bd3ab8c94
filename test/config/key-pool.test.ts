import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/read.ts'

const read = (keys: string, more = '', env = {}) =>
  readConfig(`channels: [{ name: c, provider: openai, models: [m], max_concurrent: 9, keys: ${keys}${more} }]`, env)

describe('a pool of keys', () => {
  it('takes strings, maps and variables; each key has its own limits and weight', () => {
    const [channel] = read(
      `["\${KEY_A}", { key: sk-test-bbbbbbbb, weight: 3, rpm: 5, tpm: "600", concurrent: 2 }]`,
      '',
      { KEY_A: 'sk-test-aaaaaaaa', OPENAI_API_KEY: 'not-used' },
    ).channels
    expect(channel).toMatchObject({ key: 'sk-test-aaaaaaaa', maxConcurrent: 9 })
    expect(channel!.keys).toMatchObject([
      { name: 'c', key: 'sk-test-aaaaaaaa', weight: 1, pooled: { ending: 'aaaa' } },
      { name: 'c', key: 'sk-test-bbbbbbbb', weight: 3, maxConcurrent: 2, pooled: { ending: 'bbbb', rpm: 5, tpm: 600 } },
    ])
    expect(channel!.keys![0]!.maxConcurrent).toBeUndefined()
  })

  it('shows no characters of a key that is too short for that', () => {
    expect(read('[short-key]').channels[0]!.keys![0]!.pooled!.ending).toBe('')
  })

  it.each([
    ['[]', '', 'channels[0].keys: lists no key'],
    ['[k-1]', ', key: k-2', 'channels[0].keys: cannot be set together with `key`'],
    ['[k-1, k-2, k-1]', '', 'channels[0].keys[2]: another entry has the same key'],
    ['[none]', '', 'channels[0].keys[0]: `none` is not a key'],
    ['[{ key: k-1, wieght: 2 }]', '', 'did you mean "weight"?'],
    ['[{ key: k-1, rpm: 0 }]', '', 'channels[0].keys[0].rpm: expected a whole number, 1 or more'],
    ['[7]', '', 'expected a key, or a map of key'],
    ['k-1', '', 'channels[0].keys: expected a list of keys'],
  ])('%s%s is refused: %s', (keys, more, message) => {
    expect(() => read(keys, more)).toThrow(message)
  })

  it('is named in no message with its keys', () => {
    expect(() => read('[{ key: "secret with space" }, secret-twice, secret-twice]')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
    expect(() => readConfig('channels: [{ name: c, provider: openai, key: k, keys_share_account: true }]', {})).toThrow(
      'has no effect without `keys`',
    )
  })
})
