import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replay, type TestReplayOptions } from '../../../src/kit/testing/index.ts'

/* Options of a test that are wrong are errors, most of all those that would record a secret or ask a provider. */

const folder = mkdtempSync(join(tmpdir(), 'options-'))
const UPSTREAM = 'http://127.0.0.1:9'

test.each<[string, unknown, RegExp]>([
  [
    'a text in place of redaction rules',
    { redact: 'user.email' },
    /`redact` must be a list of texts, not "user.email"/,
  ],
  ['a rule that is no text', { redact: [/a/] }, /`redact` must be a list of texts/],
  ['a text in place of rules to ignore', { ignore: 'model' }, /`ignore` must be a list of texts/],
  [
    'an unknown mode',
    { mode: 'Replay', upstream: UPSTREAM },
    /`mode` must be one of replay, record, off, not "Replay"/,
  ],
  ['an upstream without a scheme', { mode: 'record', upstream: 'api.example' }, /`upstream` must be a URL/],
  ['an upstream of another scheme', { mode: 'off', upstream: 'ftp://127.0.0.1' }, /`upstream` must be a URL/],
  ['a negative speed', { speed: -1 }, /`speed` must be a number from 0 on, not -1/],
  ['a speed that is no number', { speed: Number.NaN }, /`speed`/],
  ['a flag that is a text', { strict: 'yes' }, /`strict` must be true or false/],
  ['no options', null, /The options must be an object/],
])('%s', async (_, options, message) => {
  const opening = replay(folder, options as TestReplayOptions)
  await expect(opening).rejects.toThrow(message)
  await expect(opening).rejects.toBeInstanceOf(TypeError)
})

test('a key that is none is not shown', async () => {
  const key = ['sk-secret'] as never
  await expect(replay(folder, { key })).rejects.toThrow(/^The option `key` must be a text\.$/)
})

test('an empty key, as of a variable that a fork of a repository does not have, is replaced', async () => {
  const open = await replay(folder, { key: '' })
  expect(open.key).toBe('replay')
  await open.close()
})

test('options that are undefined are as absent', async () => {
  const names = ['mode', 'upstream', 'key', 'redact', 'ignore', 'strict', 'speed']
  const open = await replay(folder, Object.fromEntries(names.map(name => [name, undefined])))
  expect(open.key).toBe('replay')
  await open.close()
})
