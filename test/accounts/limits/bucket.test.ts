import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bucket, quotaOf, refilled } from '../../../src/accounts/limits/bucket.ts'

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

describe('the level of an allowance', () => {
  const DAY = 86_400_000

  it('rises with time to its quota, and does not fall with the clock', () => {
    expect([refilled(0, 60, 1000), refilled(-5, 60, 1000), refilled(59.5, 60, 1000)]).toEqual([1, -4, 60])
    expect([refilled(10, 60, -5000), refilled(70, 60, 0)]).toEqual([10, 60])
  })

  it('falls by what is taken, to a debt of a day at most, and is lowered to what others saw', () => {
    const bucket = new Bucket(60, 0)
    expect([bucket.level(0), bucket.isFull(0)]).toEqual([60, true])
    bucket.take(50, 0)
    expect([bucket.level(0), bucket.level(1000), bucket.isFull(1000)]).toEqual([10, 11, false])
    bucket.cap(5, 2000)
    expect(bucket.level(2000)).toBe(5)
    bucket.cap(50, 2000)
    expect(bucket.level(2000)).toBe(5)
    bucket.take(-1000, 2000)
    expect(bucket.level(2000)).toBe(60)
    bucket.take(1e12, 2000)
    expect(bucket.level(2000)).toBe(-24 * 60 * 60)
    expect(bucket.level(2000 + DAY)).toBe(0)
  })

  it('changes with its quota by the difference', () => {
    const bucket = new Bucket(60, 0)
    bucket.take(50, 0)
    bucket.resize(60, 1000)
    expect(bucket.level(1000)).toBe(11)
    bucket.resize(100, 1000)
    expect(bucket.level(1000)).toBe(51)
    bucket.resize(20, 1000)
    expect(bucket.level(1000)).toBe(-29)
  })

  it('has room after a wait in proportion to what is missing, for all of its quota at most', () => {
    const bucket = new Bucket(60, 0)
    bucket.take(60, 0)
    expect([bucket.wait(0), bucket.wait(0, 0), bucket.wait(0, 30), bucket.wait(0, 999)]).toEqual([
      ...[1000, 1000, 30_000, 60_000],
    ])
    expect(bucket.wait(30_000, 30)).toBe(0)
    expect(new Bucket(0, 0).wait(0)).toBe((24 * 60 + 1) * 60_000)
    bucket.take(1e12, 30_000)
    expect(bucket.wait(30_000, 60)).toBe((24 * 60 + 1) * 60_000)
  })

  it('is told in whole units, with the time until it is full', () => {
    expect(quotaOf(60, 10, 1500)).toEqual({ limit: 60, remaining: 11, reset: 48_500 })
    expect(quotaOf(60, -5, 1000)).toEqual({ limit: 60, remaining: 0, reset: 64_000 })
    expect(quotaOf(0, 0, 0)).toEqual({ limit: 0, remaining: 0, reset: 0 })
    expect(quotaOf(60, 60, 0)).toEqual({ limit: 60, remaining: 60, reset: 0 })
  })
})
