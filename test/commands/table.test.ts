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

test('a name that a caller chose neither reorders its line nor looks like another', () => {
  const said = table([['MODEL'], ['gpt\u202e4\u2066'], ['gpt\u200b'], ['gp\u200dt'], ['\u{e0041}'], ['\u05d0\ufeff']])
  expect(said.split('\n').slice(1)).toEqual([
    ...['gpt\\u202e4\\u2066', 'gpt\\u200b', 'gp\\u200dt', '\\udb40\\udc41', '\u05d0\\ufeff'],
  ])
  // Joiners belong to emoji and to other scripts.
  expect(table([['M'], ['👩‍💻'], ['می‌خواهم']])).toBe('M\n👩‍💻\nمی‌خواهم')
})
