import { expect, test } from 'vitest'
import { table } from '../../src/commands/table.ts'

test('columns are aligned, numbers at the right', () => {
  expect(
    table(
      [
        ['NAME', 'COUNT'],
        ['a', '5'],
        ['longer', '10'],
      ],
      new Set([1]),
    ),
  ).toBe('NAME    COUNT\na           5\nlonger     10')
})

test('a name that a caller chose moves no cursor and begins no line', () => {
  const said = table([['MODEL'], ['m\n\u001b[2Jfake\r\u009b1A']])
  expect(said).toBe('MODEL\nm\\u000a\\u001b[2Jfake\\u000d\\u009b1A')
})
