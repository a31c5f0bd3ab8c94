import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bucket } from '../../../src/accounts/limits/bucket.ts'

describe('an allowance', () => {
  it('never lets more than two minutes of it through in one minute, nor refuses one who keeps to it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.nat(5000), { maxLength: 200 }), (rate, pauses) => {
        const bucket = new Bucket(rate, 0)
        const taken: number[] = []
        let now = 0
        for (const pause of pauses) {
          now += pause
          if (bucket.wait(now) > 0) continue
          bucket.take(1, now)
          taken.push(now)
        }
        for (const at of taken)
          expect(taken.filter(time => time >= at && time < at + 60_000).length).toBeLessThanOrEqual(2 * rate)
        const steady = new Bucket(rate, 0)
        for (let turn = 0; turn < 2 * rate; turn++) {
          const time = Math.ceil((turn * 60_000) / rate)
          expect(steady.wait(time)).toBe(0)
          steady.take(1, time)
        }
      }),
    )
  })

  it('saves up one minute of it, however long nothing was taken', () => {
    const bucket = new Bucket(3, 0)
    const day = 86_400_000
    for (let turn = 0; turn < 3; turn++) {
      expect(bucket.wait(day)).toBe(0)
      bucket.take(1, day)
    }
    expect(bucket.wait(day)).toBe(20_000)
  })

  it('is there again when it says so', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 5000 }), (rate, debt) => {
        const bucket = new Bucket(rate, 0)
        bucket.take(rate + debt, 0)
        const wait = Math.ceil(bucket.wait(0))
        expect(bucket.wait(wait + 1)).toBe(0)
      }),
    )
  })

  it('does not run backwards with the clock', () => {
    const bucket = new Bucket(60, 1000)
    bucket.take(60, 1000)
    expect(bucket.wait(0)).toBeGreaterThan(0)
    expect(bucket.wait(2000)).toBeLessThanOrEqual(1000)
  })
})
