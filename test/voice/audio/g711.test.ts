import { describe, expect, it } from 'vitest'
import { alaw, mulaw } from '../../../src/voice/audio/g711.ts'

const LAWS = { mulaw, alaw }

/** Codes of ITU-T G.711 with their levels as 16-bit samples. */
const KNOWN: { readonly [law in keyof typeof LAWS]: readonly (readonly [code: number, level: number])[] } = {
  mulaw: [
    [0xff, 0],
    [0x7e, -8],
    [0xfe, 8],
    [0x80, 32_124],
    [0x00, -32_124],
    [0xf0, 120],
    [0xef, 132],
    [0xe0, 372],
    [0xbf, 1980],
    [0x3f, -1980],
  ],
  alaw: [
    [0xd5, 8],
    [0x55, -8],
    [0xaa, 32_256],
    [0x2a, -32_256],
    [0xda, 248],
    [0xc5, 264],
    [0xca, 504],
    [0xf5, 528],
    [0x85, 4224],
  ],
}

describe.each(['mulaw', 'alaw'] as const)('%s', name => {
  const { levels, codes } = LAWS[name]()
  const codeOf = (sample: number): number => codes[sample & 0xffff]!

  it('has the levels of the recommendation', () => {
    for (const [code, level] of KNOWN[name]) expect(levels[code], `0x${code.toString(16)}`).toBe(level)
  })

  it('writes every level as its code', () => {
    for (let code = 0; code < 256; code++) expect(levels[codeOf(levels[code]!)]).toBe(levels[code])
  })

  it('writes each sample as a level no further away than half of a step beside it', () => {
    const sorted = [...new Set(levels)].sort((a, b) => a - b)
    const steps = new Map(
      sorted.map((level, index) => {
        const [below = level, above = level] = [sorted[index - 1], sorted[index + 1]]
        return [level, Math.max(level - below, above - level)]
      }),
    )
    const faults: number[] = []
    for (let sample = sorted[0]!; sample <= sorted.at(-1)!; sample++) {
      const written = levels[codeOf(sample)]!
      if (Math.abs(written - sample) > steps.get(written)! / 2 + 1) faults.push(sample)
    }
    expect(faults).toEqual([])
    for (const loud of [-32_768, 32_767]) expect(Math.abs(levels[codeOf(loud)]! - loud)).toBeLessThan(700)
  })

  it('rises with the sample', () => {
    const written = Array.from({ length: 65_536 }, (_, index) => levels[codeOf(index - 32_768)]!)
    expect(written.findIndex((level, index) => level > (written[index + 1] ?? level))).toBe(-1)
  })
})
