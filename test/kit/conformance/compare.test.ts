import { describe, expect, it } from 'vitest'
import { compare, type Leaves } from '../../../src/kit/conformance/compare.ts'

const CALL = 'candidates[0].calls[0].signature'
const REASONING = 'candidates[0].reasoning[0].signature'

/** The fate of the call's signature, of which the other format knows nothing. */
function fateOf(found: Leaves, isNative = false, source: Leaves = new Map([[CALL, 'A']])) {
  return compare({ source, reachable: new Map(), found, isNative }).find(({ path }) => path === CALL)!.fate
}

describe('a signature of a call', () => {
  it('is kept on the reasoning of the same candidate, between formats', () => {
    expect(fateOf(new Map([[REASONING, 'wrapped']]))).toBe('kept')
  })

  it('is lost without any, or with one of another candidate', () => {
    expect(fateOf(new Map())).toBe('lost')
    expect(fateOf(new Map([['candidates[1].reasoning[0].signature', 'wrapped']]))).toBe('lost')
    expect(fateOf(new Map([[REASONING, '']]))).not.toBe('kept')
  })

  it('is lost if the other signature is the reasoning’s own, or the format the same', () => {
    const both: Leaves = new Map([
      [CALL, 'A'],
      [REASONING, 'B'],
    ])
    expect(fateOf(new Map([[REASONING, 'B']]), false, both)).toBe('lost')
    expect(fateOf(new Map([[REASONING, 'A']]), true)).toBe('lost')
  })
})
