import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freshId, requestId, timedId, timeOfId } from '../../../src/store/usage/request-id.ts'
import { holds } from '../../laws/runs.ts'

const MAX_TIME = 2 ** 48 - 1

test('an id has its time and random digits', () => {
  const random = '0123456789abcdef0123456789ABCDEF'
  expect(requestId(1_700_000_000_123, random)).toBe('req_018bcfe5687bcdef0123456789ABCDEF')
  expect(timedId(0, random)).toBe('000000000000cdef0123456789ABCDEF')
})

test('the time is read back, and ids sort by it', () => {
  holds(fc.array(fc.nat(MAX_TIME), { maxLength: 5 }), times => {
    const ids = times.map(at => requestId(at))
    expect(ids.map(timeOfId)).toEqual(times)
    const sorted = times.toSorted((a, b) => a - b)
    expect(ids.toSorted().map(timeOfId)).toEqual(sorted)
  })
})

test('other ids have no time', () => {
  const [id, hex] = [requestId(5), 'a'.repeat(31)]
  for (const other of ['', id.slice(4), `x${id}`, `${id}0`, id.slice(0, -1), `req_${hex}g`, `req_g${hex}`])
    expect(timeOfId(other)).toBeUndefined()
})

test('ids are unique, also beyond those that are drawn together', () => {
  const ids = Array.from({ length: 1000 }, freshId)
  expect(new Set(ids).size).toBe(1000)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(Array.from({ length: 600 }, () => requestId(7))).size).toBe(600)
})

test('the time is now by default', () => {
  const before = Date.now()
  const at = timeOfId(requestId())!
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now())
})
