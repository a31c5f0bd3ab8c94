import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matches, matchesAny } from '../../src/config/glob.ts'

const letters = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 6 }).map(list => list.join(''))

describe('patterns', () => {
  it('mean what the same regular expression means', () => {
    fc.assert(
      fc.property(letters, letters, (pattern, word) => {
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '[^]*')
        expect(matches(pattern, word)).toBe(new RegExp(`^${source}$`).test(word))
      }),
      {
        numRuns: 2000,
        examples: [
          ['a*a', 'a'],
          ['*a*', 'ba'],
          ['**', ''],
        ],
      },
    )
  })

  it('are enough if one of them fits', () => {
    expect(matchesAny(['claude-*', 'gpt-5.6'], 'claude-x')).toBe(true)
    expect(matchesAny(['claude-*', 'gpt-5.6'], 'gpt-5.6-mini')).toBe(false)
    expect(matchesAny([], 'm')).toBe(false)
  })
})
