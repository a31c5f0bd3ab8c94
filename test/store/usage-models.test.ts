import { expect, test } from 'vitest'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { SeriesModels } from '../../src/store/usage-models.ts'

const DAY = 86_400_000

const rowOf = (model: string, fields: Partial<UsageRow> = {}): UsageRow => ({
  ...{ id: 'x', at: DAY, stream: false, attempts: 1, losses: 0, duration: 0, format: 'chat', door: '/v1' },
  ...{ status: 404, channel: 'any', model },
  ...fields,
})

/** Returns how many of 5,000 invented names sums have. */
const namedOf = (models: SeriesModels, fields?: Partial<UsageRow>): number =>
  Array.from({ length: 5000 }, (_, at) => models.of(rowOf(`invented-${at}`, fields))).filter(one => one !== undefined)
    .length

test('names that no upstream answered are limited per day', () => {
  const models = new SeriesModels()
  expect([namedOf(models), namedOf(models), namedOf(models, { at: 2 * DAY - 1 })]).toEqual([1000, 1000, 1000])
  expect([namedOf(models, { at: 2 * DAY }), namedOf(models, { at: DAY })]).toEqual([1000, 1000])
})

test('requests that their callers cancelled do not make a name known', () => {
  expect(namedOf(new SeriesModels(), { status: 499 })).toBe(1000)
})

test('a model that answered is named, also when it fails and whatever was invented', () => {
  const models = new SeriesModels()
  namedOf(models)
  expect(models.of(rowOf('real'))).toBeUndefined()
  expect([models.of(rowOf('real', { status: 200 })), models.of(rowOf('real'))]).toEqual(['real', 'real'])
})

test('a model without a tried channel is never named', () => {
  expect(new SeriesModels().of(rowOf('m', { channel: undefined, status: 200 }))).toBeUndefined()
})

test('models that answered are limited in memory, and are known again with their next answer', () => {
  const models = new SeriesModels()
  for (let at = 0; at <= 20_000; at++) models.of(rowOf(`answered-${at}`, { status: 200 }))
  namedOf(models)
  expect(models.of(rowOf('answered-0'))).toBeUndefined()
  expect([models.of(rowOf('answered-0', { status: 200 })), models.of(rowOf('answered-0'))]).toEqual([
    'answered-0',
    'answered-0',
  ])
})
