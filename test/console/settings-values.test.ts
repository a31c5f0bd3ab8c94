import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Provider } from '../../console/src/api/types.ts'
import { fallbacksIn } from '../../console/src/catalogue/fallback-lines.ts'
import { editsOf } from '../../console/src/edits.ts'
import { configOf, newValues } from '../../console/src/pages/channels/editor/values.ts'
import { isNumber, keyBody, valuesOf as keyValuesOf, NUMBERS } from '../../console/src/pages/keys/form-values.ts'
import { settingsOf, valuesOf } from '../../console/src/pages/models/settings-values.ts'

test('prices without a field of their own are further settings, and stay if others are edited', () => {
  const settings = { price: { input: 1, tiers: { flex: 0.5 }, minute: 0.006 }, name: 'M' }
  const values = valuesOf('m', settings)
  expect(JSON.parse(values.more)).toEqual({ price: { tiers: { flex: 0.5 }, minute: 0.006 } })
  expect(settingsOf(values)).toEqual(settings)
  const edited = settingsOf({ ...values, numbers: { ...values.numbers, 'price.input': '' } })
  expect(editsOf(settingsOf(values), edited)).toEqual({ price: { input: null } })
})

/** What people write into a field for a number. */
const written = fc.oneof(
  fc.double().map(String),
  fc.constantFrom('1e999', '9'.repeat(400), '1,5', '1.000,5', '-0', '1e-7', ' 7 ', '0x10', 'Infinity', 'NaN', '٣', '½'),
  fc.string({ unit: fc.constantFrom(...'0123456789eE+-., _'), minLength: 1 }),
)

test('a number that is written is sent as a number or as written, and never removes the setting', () => {
  const provider = { name: 'custom', fields: [], auth: [] } as unknown as Provider
  const sent = (value: object, path: readonly string[]): unknown =>
    path.reduce(
      (inner: unknown, step) => (inner as { readonly [name: string]: unknown })[step],
      JSON.parse(JSON.stringify(value)),
    )
  fc.assert(
    fc.property(written, text => {
      fc.pre(text.trim() !== '')
      const channel = configOf({ ...newValues('custom'), max_concurrent: text }, provider)
      const settings = settingsOf({ ...valuesOf('m', {}), numbers: { 'price.input': text } })
      for (const value of [sent(channel, ['max_concurrent']), sent(settings, ['price', 'input'])])
        expect(typeof value === 'number' || value === text, `${text} became ${value}`).toBe(true)
      if (isNumber(text)) expect(sent(keyBody({ ...keyValuesOf(), rpm: text }), ['rpm'])).toBe(Number(text))
    }),
  )
})

test('each stored number is a valid one in the form of a key', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), day => {
      const values = keyValuesOf({ budget: { day }, rpm: Math.ceil(day) })
      expect(NUMBERS.every(field => isNumber(values[field]))).toBe(true)
      expect(keyBody(values).budget.day).toBe(day)
    }),
  )
})

test('the id of an upstream’s model may have equals signs', () => {
  const provider = { name: 'custom', fields: [], auth: [] } as unknown as Provider
  expect(configOf({ ...newValues('custom'), models: 'a = b=c\nd' }, provider)['models']).toEqual({ a: 'b=c', d: 'd' })
})

test('names that were pasted with invisible marks are those that they look like', () => {
  const provider = { name: 'custom', fields: [], auth: [] } as unknown as Provider
  expect(keyBody({ ...keyValuesOf(), models: '\ufeffgpt-5.6\r\n\u200bclaude-*\u2060\n\u200b' }).models).toEqual([
    ...['gpt-5.6', 'claude-*'],
  ])
  expect(configOf({ ...newValues('custom'), models: '\u200bm2\t\r\n\u200b' }, provider)['models']).toEqual(['m2'])
  expect(fallbacksIn('qwen3\u200b\nqwen4: \u200bfailure')).toEqual(['qwen3', { model: 'qwen4', on: ['failure'] }])
})

test('lists may have the punctuation of Chinese keyboards', () => {
  const provider = { name: 'custom', fields: [{ name: 'formats' }], auth: [] } as unknown as Provider
  expect(keyBody({ ...keyValuesOf(), models: 'gpt-5.6，claude-*、 qwen3\ndeepseek-chat' }).models).toEqual([
    ...['gpt-5.6', 'claude-*', 'qwen3', 'deepseek-chat'],
  ])
  const values = { ...newValues('custom'), fields: { formats: 'chat，responses' }, models: '快 ＝ gpt-5.6' }
  expect(configOf(values, provider)).toMatchObject({ formats: ['chat', 'responses'], models: { 快: 'gpt-5.6' } })
  expect(fallbacksIn('qwen3：failure，budget')).toEqual([{ model: 'qwen3', on: ['failure', 'budget'] }])
})
