import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linesOf } from '../../console/src/pages/traffic/json-lines.ts'

const NONE: ReadonlySet<string> = new Set()

test('the first lines of a value are those of all its lines, and all are counted', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(20), fc.boolean(), (value, most, foldsSome) => {
      const pointers = linesOf(value, NONE).lines.map(({ pointer }) => pointer)
      const folded = foldsSome ? new Set(pointers.filter((_, index) => index % 3 === 1)) : NONE
      const all = linesOf(value, folded)
      expect(linesOf(value, folded, most)).toMatchObject({ lines: all.lines.slice(0, most), total: all.lines.length })
    }),
  )
})

test('a body of a million items has no more lines in memory than are shown', () => {
  const { lines, total } = linesOf({ items: Array.from({ length: 1_000_000 }, () => 0) }, NONE, 1500)
  expect([lines.length, total]).toEqual([1500, 1_000_004])
})

test('lines are those that JSON has, with the places of their values', () => {
  const text = linesOf({ a: [1, { 'b/c': null }], d: {} }, NONE).lines.map(
    ({ depth, name, open, close, value, comma, pointer }) =>
      `${'  '.repeat(depth)}${name === undefined ? '' : `${name}: `}${open ?? ''}${close ?? ''}${value === undefined ? '' : String(value)}${comma ? ',' : ''} ${pointer}`,
  )
  expect(text).toEqual([
    '{ ',
    '  a: [ /a',
    '    1, /a/0',
    '    { /a/1',
    '      b/c: null /a/1/b~1c',
    '    } /a/1',
    '  ], /a',
    '  d: {} /d',
    '} ',
  ])
})
