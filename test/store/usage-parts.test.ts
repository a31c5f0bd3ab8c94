import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  DURATION_OFFSET,
  emptySum,
  FIRST_BYTE_OFFSET,
  LATER_OFFSET,
  mergePacked,
  pack,
  type Sum,
  type Sums,
  sumIn,
  unpack,
} from '../../src/store/usage-parts.ts'
import { holds } from '../laws/runs.ts'

const LENGTH = emptySum().length

/** Sums with some values that are not 0, of which a later version may have added some, of series with ids of 53 bits. */
const sum: fc.Arbitrary<Sum> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.nat(LENGTH - 1), fc.nat(255)),
      fc.oneof(
        fc.nat(300),
        fc.maxSafeNat().map(count => Math.floor(count / 8)),
      ),
    ),
    {
      maxLength: 12,
    },
  )
  .map(values => {
    const some = emptySum()
    for (const [at, value] of values) if (value > 0) some[at] = value
    return some
  })
const sums: fc.Arbitrary<Sums> = fc.array(fc.tuple(fc.maxSafeNat(), sum), { maxLength: 6 }).map(all => new Map(all))

const read = (data: Uint8Array, timings = true): Sums => {
  const found: Sums = new Map()
  unpack(data, series => sumIn(found, series), timings)
  return found
}

test('sums are read as they were packed, and added to what is there', () => {
  holds(sums, all => {
    const data = pack(all)
    expect(read(data)).toEqual(all)
    const twice = read(data)
    unpack(data, series => twice.get(series), true)
    expect(twice).toEqual(new Map([...all].map(([series, one]) => [series, one.map(value => 2 * value)])))
  })
})

test('histograms can be left out, and nothing else', () => {
  holds(sums, all => {
    const counts = (one: Sum) => one.map((value, at) => (at < FIRST_BYTE_OFFSET || at >= LATER_OFFSET ? value : 0))
    expect(read(pack(all), false)).toEqual(new Map([...all].map(([series, one]) => [series, counts(one)])))
  })
})

test('only the series that are asked for are read', () => {
  holds(sums, all => {
    const wanted = [...all.keys()].filter((_, at) => at % 2 === 0)
    const found: Sums = new Map(wanted.map(series => [series, emptySum()]))
    unpack(pack(all), series => found.get(series), true)
    expect(found).toEqual(new Map(wanted.map(series => [series, all.get(series)!])))
  })
})

const add = (sum: Sum, at: number, value: number | undefined): void => {
  if (value !== undefined) sum[at] = (sum[at] ?? 0) + value
}

test('merged parts are the sum of the parts, whatever series they have', () => {
  holds(fc.array(sums, { maxLength: 4 }), parts => {
    const whole: Sums = new Map()
    for (const part of parts)
      for (const [series, one] of part) for (const [at, value] of one.entries()) add(sumIn(whole, series), at, value)
    expect(read(mergePacked(parts.map(pack)))).toEqual(whole)
  })
})

test('a part is a slice of a larger buffer, and may be larger than the memory it is packed in', () => {
  const many: Sums = new Map(Array.from({ length: 3000 }, (_, at) => [at, emptySum().fill(at + 200)]))
  const data = pack(many)
  expect(data.length).toBeGreaterThan(2 * 64 * 1024)
  const padded = new Uint8Array(data.length + 9)
  padded.set(data, 7)
  expect(read(padded.subarray(7, 7 + data.length))).toEqual(many)
})

test('the layout stays, because stored parts have it', () => {
  expect([FIRST_BYTE_OFFSET, DURATION_OFFSET, LATER_OFFSET, LENGTH]).toEqual([12, 40, 68, 73])
  const one = emptySum()
  ;[one[0], one[9], one[12], one[68]] = [1, 300, 5, 2]
  // Series and length, twelve values, then index and value of later columns and of histograms.
  const bytes = ['01000000030000001100', '010000000000000000ac020000', '4402', '0c05']
  expect(pack(new Map([[2 ** 32 + 3, one]])).toString('hex')).toBe(bytes.join(''))
})
