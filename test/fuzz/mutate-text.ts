// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import type { Dice } from './dice.ts'

/** Changes a text: bytes, ranges, lines and words of it. A text stands for bytes if all its characters are below 256. */
export const changedText = (text: string, dice: Dice, words: readonly string[]): string =>
  dice.one(CHANGES)(text, dice, words)

type Change = (text: string, dice: Dice, words: readonly string[]) => string

const CHANGES: readonly Change[] = [
  // A range is removed, doubled, repeated or moved.
  (text, dice) => replaced(text, dice, () => ''),
  (text, dice) => replaced(text, dice, range => range + range),
  (text, dice) => replaced(text, dice, range => range.repeat(dice.length())),
  (text, dice) => replaced(text, dice, range => [...range].reverse().join('')),
  (text, dice) => {
    const [start, end] = rangeOf(text, dice)
    const rest = text.slice(0, start) + text.slice(end)
    return inserted(rest, dice, text.slice(start, end))
  },
  (text, dice) => text.slice(0, dice.below(text.length + 1)),
  (text, dice) => text.slice(dice.below(text.length + 1)),
  // Something comes in.
  (text, dice) => inserted(text, dice, dice.one(MARKS)),
  (text, dice) => inserted(text, dice, dice.one(MARKS)),
  (text, dice, words) => inserted(text, dice, words.length === 0 ? dice.one(MARKS) : dice.one(words)),
  (text, dice) => inserted(text, dice, String.fromCharCode(dice.below(dice.oneIn(4) ? 2 ** 16 : 2 ** 8))),
  (text, dice) => text + dice.one(MARKS).repeat(dice.length()),
  // A character or a number changes.
  (text, dice) => {
    const index = dice.below(text.length)
    const code = text.charCodeAt(index) || 0
    return text.slice(0, index) + String.fromCharCode(code ^ (1 << dice.below(8))) + text.slice(index + 1)
  },
  (text, dice) =>
    text.replace(/\d+/, number => dice.one(['0', '-1', `${number}0`, '99999999999999999999', '1e9', '0x10'])),
  // Lines change their order or their ends.
  (text, dice) => {
    const lines = text.split('\n')
    const from = dice.below(lines.length)
    return lines.toSpliced(from, 1).toSpliced(dice.below(lines.length), 0, lines[from]!).join('\n')
  },
  (text, dice) => text.replaceAll('\n', dice.one(['\r\n', '\r', '\n\n', '\u2028'])),
]

/** Characters and short texts that parsers treat specially. */
const MARKS: readonly string[] = [
  ...[
    '"',
    "'",
    '\\',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    ';',
    '=',
    '&',
    '#',
    '%',
    '%zz',
    '*',
    '|',
    '>',
    '<',
    '-',
    '- ',
    '\t',
  ],
  ...[
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '\0',
    ' ',
    '\u00a0',
    '\ufeff',
    '\u2028',
    '\ud83d',
    '\ude00',
    '🚤',
    'e\u0301',
    '\u202e',
  ],
  ...[
    'data:',
    'event: ',
    'id: ',
    'retry: ',
    'data: [DONE]\n\n',
    ': ping\n\n',
    '\\u0000',
    '\\ud800',
    '\\',
    '--',
    '----',
  ],
  ...['&a ', '*a', '!!binary ', '!!js ', '<<: *a', '? ', '${A}', '${', 'null', '~', '.nan', '.inf', '0o17', '1_000'],
  ...['__proto__', 'constructor', 'base64,', ';base64', '; charset=utf-16', 'Mon, 01 Jan', 'T00:00:00Z', 's', 'ms'],
]

function rangeOf(text: string, dice: Dice): readonly [start: number, end: number] {
  const start = dice.below(text.length + 1)
  return [start, Math.min(text.length, start + dice.length())]
}

function replaced(text: string, dice: Dice, change: (range: string) => string): string {
  const [start, end] = rangeOf(text, dice)
  return text.slice(0, start) + change(text.slice(start, end)) + text.slice(end)
}

function inserted(text: string, dice: Dice, piece: string): string {
  const place = dice.below(text.length + 1)
  return text.slice(0, place) + piece + text.slice(place)
}
