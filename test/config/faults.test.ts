import { describe, expect, it } from 'vitest'
import { nearest, pathText } from '../../src/config/faults.ts'
import { readConfig } from '../../src/config/read.ts'
import { bytes, instant, milliseconds } from '../../src/config/units.ts'

describe('the word that was meant', () => {
  it.each([
    ['chanels', 'channels'],
    ['pirority', 'priority'],
    ['base-url', 'base_url'],
    ['baseUrl', 'base_url'],
    ['KEY', 'key'],
    ['colour', undefined],
    ['x', undefined],
  ])('for %s is %s', (word, meant) => {
    expect(nearest(word, ['name', 'key', 'channels', 'priority', 'base_url', 'models'])).toBe(meant)
  })
})

it('a place is written as in code', () => {
  expect(pathText(['channels', 0, 'timeout', 'idle'])).toBe('channels[0].timeout.idle')
  expect(pathText([])).toBe('')
})

describe('units', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5000],
    ['1.5 m', 90_000],
    ['2h', 7_200_000],
    ['5', undefined],
    ['-5s', undefined],
    ['soon', undefined],
  ])('%s is so long', (text, value) => expect(milliseconds(text)).toBe(value))

  it.each([
    ['32MiB', 33_554_432],
    ['1 kb', 1000],
    ['7', 7],
    ['7b', 7],
    ['1TiB', undefined],
    ['constructor', undefined],
    ['', undefined],
  ])('%s is so large', (text, value) => expect(bytes(text)).toBe(value))
})

describe('instants', () => {
  it.each([
    ['2027-01-31', Date.UTC(2027, 0, 31)],
    ['2027-01-31T12:00:00Z', Date.UTC(2027, 0, 31, 12)],
    ['2027-01-31T12:00:00+02:00', Date.UTC(2027, 0, 31, 10)],
    ['90', undefined],
    ['2027', undefined],
    ['1/2/2027', undefined],
    ['March 5', undefined],
    ['tomorrow', undefined],
    ['2027-13-01', undefined],
    ['2027-02-31T12:00:00Z', undefined],
  ])('%s is that time', (text, at) => expect(instant(text)).toBe(at))

  it('are of the days that exist', () => {
    const years = [1970, 1972, 1999, 2000, 2026, 2027, 2028, 2096, 2100, 2400, 9996, 9999]
    const two = (number: number): string => String(number).padStart(2, '0')
    for (const year of years)
      for (let month = 1; month <= 12; month++)
        for (let day = 1; day <= 31; day++) {
          const at = Date.UTC(year, month - 1, day)
          const exists = new Date(at).getUTCMonth() === month - 1
          expect(instant(`${year}-${two(month)}-${two(day)}`)).toBe(exists ? at : undefined)
        }
  })
})

it('a second document is named as such', () => {
  expect(() => readConfig('channels: []\n---\nchannels: []\n', {})).toThrow(
    'interlingua.yaml:2: the file has a second document after `---`: write one',
  )
})
