import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { plainText, SeriesIndex } from '../../src/store/usage-series.ts'
import { holds } from '../laws/runs.ts'

const text = fc.constantFrom('a', 'b', 'ab')
const row: fc.Arbitrary<UsageRow> = fc
  .record(
    {
      ...{ key: text, keyName: text, group: text, model: text, channel: text, format: text, upstreamFormat: text },
      ...{ door: text, status: fc.constantFrom(200, 201, 499, 503), error: text },
    },
    { requiredKeys: ['format', 'door', 'status'] },
  )
  .map(fields => ({ id: 'x', at: 0, stream: false, attempts: 1, losses: 0, duration: 0, ...fields }) as UsageRow)

/** The fields that a series is made of, by definition. */
const fieldsOf = ({ key, keyName, group, model, channel, format, upstreamFormat, door, status, error }: UsageRow) => ({
  ...{ key_id: key ?? null, key_name: keyName ?? null, group_name: group ?? null },
  ...{ model: channel === undefined ? null : (model ?? null), channel: channel ?? null },
  ...{ format, upstream_format: upstreamFormat ?? null, door, status },
  failed: status !== 499 && (status >= 400 || error !== undefined) ? 1 : 0,
})

test('rows share a series if its fields are equal, in every process', () => {
  holds(fc.array(row, { minLength: 1, maxLength: 12 }), rows => {
    const index = new SeriesIndex()
    const idByFields = new Map<string, number>()
    for (const one of rows) {
      const { id, ...fields } = index.of(one)
      expect(fields).toEqual(fieldsOf(one))
      const name = JSON.stringify(fields)
      expect(id).toBe(idByFields.get(name) ?? id)
      idByFields.set(name, id)
      expect(index.of(one)).toBe(index.of({ ...one, id: 'y' }))
      expect(new SeriesIndex().of(one).id).toBe(id)
      expect(Number.isSafeInteger(id)).toBe(true)
    }
    expect(new Set(idByFields.values()).size).toBe(idByFields.size)
  })
})

test('ids stay, because stored rows have them', () => {
  const one = {
    id: 'x',
    at: 0,
    stream: false,
    attempts: 1,
    losses: 0,
    duration: 0,
    format: 'chat',
    door: '/v1',
  } as const
  expect(new SeriesIndex().of({ ...one, status: 200, channel: 'c', model: 'm' }).id).toBe(1_696_279_468_202_701)
})

test('texts are storable: short, without NUL and without half of a character', () => {
  expect([plainText(undefined), plainText(''), plainText('a\0b\0')]).toEqual([null, '', 'ab'])
  expect([plainText('x'.repeat(200)), plainText('x'.repeat(201))]).toEqual(['x'.repeat(200), 'x'.repeat(200)])
  expect([plainText('abc', 2), plainText('a\ud800')]).toEqual(['ab', 'a\ufffd'])
  expect(plainText('\ud83d\ude00', 1)).toBe('\ufffd')
})
