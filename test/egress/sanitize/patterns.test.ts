import { expect, it } from 'vitest'
import { refusalOf, withoutRefusedPatterns } from '../../../src/egress/sanitize/patterns.ts'

/* Each verdict is that of Python 3's `re.compile`, which OpenAI uses (BerriAI/litellm#40485). */

it.each([
  ...[
    '\\p{L}',
    '^[^\\p{Cc}\\p{Cf}"\\\\./[\\]]{1,200}$',
    '[\\w-.]+',
    '^[\\w-\\.]+@x$',
    '[a-\\d]',
    '(?<y>\\d)',
    '\\k<a>',
  ],
  ...['[^]', '[]', '\\cA', '\\u{1F600}', '\\x4', '\\e', '\\z', 'a\\'],
])('%s is a pattern of JavaScript only', pattern => expect(refusalOf(pattern)).toBe('no-such-pattern'))

it.each([
  ...[
    '^\\d{3}-\\d{4}$',
    '\\/a',
    '[\\w-]',
    '[-\\w]',
    '[\\w\\-.]',
    '[a\\-\\d]',
    '\\u0041\\x41',
    '\\$\\_\\-',
    'a{,3}',
    '\\\\p',
  ],
  ...['[^\\]-a]', '(?:a|b)+', '^[0-9a-f]{32}$', '(?P<a>.)', '[a-z\\d]'],
])('%s is one of Python, too', pattern => expect(refusalOf(pattern)).toBeUndefined())

it('leaves out patterns of names alone that are refused', () => {
  const reasons: string[] = []
  const schema = { type: 'object', patternProperties: { '^\\p{L}$': {}, '^a(?=b)': {}, '^x-': { type: 'string' } } }
  expect(withoutRefusedPatterns(schema, reason => reasons.push(reason))).toEqual({
    type: 'object',
    patternProperties: { '^x-': { type: 'string' } },
  })
  expect(reasons).toEqual(['no-such-pattern', 'no-lookaround'])
  const fine = { type: 'string', pattern: '^a$' }
  expect(withoutRefusedPatterns(fine, () => {})).toBe(fine)
})
