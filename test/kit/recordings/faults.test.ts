import { describe, expect, test } from 'vitest'
import { FaultChooser, parseFaults } from '../../../src/kit/recordings/faults.ts'
import { withFault } from '../../../src/kit/recordings/served-answer.ts'

test('faults are parsed with their rates', () => {
  expect(parseFaults('429:0.1,cut:0.05,stall:2s:0.02,garble:0.01')).toEqual([
    { type: 'status', status: 429, rate: 0.1 },
    { type: 'cut', rate: 0.05 },
    { type: 'stall', ms: 2000, rate: 0.02 },
    { type: 'garble', rate: 0.01 },
  ])
})

test.each([
  ['429', '429 has no rate from 0 to 1'],
  ['429:', '429: has no rate from 0 to 1'],
  ['cut:2', 'cut:2 has no rate from 0 to 1'],
  ['200:0.5', '200:0.5 is not a fault'],
  ['stall:0.5', 'stall:0.5 is not a fault'],
  ['stall:soon:0.5', 'stall:soon:0.5 is not a fault'],
  ['drop:0.5', 'drop:0.5 is not a fault'],
  ['cut:0.6,garble:0.6', 'cut:0.6,garble:0.6: the rates exceed 1'],
])('%s is refused', (text, message) => {
  expect(() => parseFaults(text)).toThrow(message)
})

describe('the choice of faults', () => {
  const faults = parseFaults('429:0.2,cut:0.1')
  const drawn = (seed: number, digests: readonly string[], scope = ''): Map<string, unknown> => {
    const chooser = new FaultChooser(faults, seed)
    return new Map(digests.map(digest => [digest, chooser.next(digest, scope)]))
  }
  const digests = Array.from({ length: 2000 }, (_, index) => String(index))

  test('is the same for a seed in any order of the requests, and another for another seed or scope', () => {
    const first = drawn(1, digests)
    const reversed = drawn(1, digests.toReversed())
    for (const digest of digests) expect(reversed.get(digest)).toEqual(first.get(digest))
    expect([...drawn(2, digests).values()]).not.toEqual([...first.values()])
    expect([...drawn(1, digests, 'other').values()]).not.toEqual([...first.values()])
  })

  test('keeps the rates', () => {
    const types = [...drawn(7, digests).values()].map(fault => (fault as { type?: string } | undefined)?.type)
    const share = (type: string | undefined): number => types.filter(one => one === type).length / digests.length
    expect(share('status')).toBeCloseTo(0.2, 1)
    expect(share('cut')).toBeCloseTo(0.1, 1)
    expect(share(undefined)).toBeCloseTo(0.7, 1)
  })

  test('differs between the times of one request', () => {
    const chooser = new FaultChooser(faults, 3)
    const types = Array.from({ length: 50 }, () => chooser.next('a', '')?.type)
    expect(new Set(types)).toEqual(new Set([undefined, 'status', 'cut']))
  })
})

describe('a fault in a body', () => {
  const answer = {
    ...{ status: 200, headers: {}, ms: 0, isComplete: true },
    chunks: ['0123', '4567', '89ab'].map(text => ({ ms: 0, bytes: Buffer.from(text) })),
  }
  const textOf = ({ chunks }: { readonly chunks: readonly { readonly bytes: Buffer }[] }): string =>
    Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()

  test('cut ends it early', () => {
    const cut = withFault(answer, { type: 'cut', rate: 1, at: 0.5 })
    expect([textOf(cut), cut.isComplete]).toEqual(['012345', false])
  })

  test('stall pauses inside of it and changes no byte', () => {
    const stalled = withFault(answer, { type: 'stall', ms: 50, rate: 1, at: 0.5 })
    expect(textOf(stalled)).toBe('0123456789ab')
    expect(stalled.chunks.map(({ pause }) => pause)).toEqual([undefined, undefined, 50, undefined])
  })

  test('garble overwrites some bytes', () => {
    expect(textOf(withFault(answer, { type: 'garble', rate: 1, at: 0.5 }))).toBe('012345\0\u000089ab')
  })
})
