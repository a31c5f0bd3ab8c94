import { describe, expect, test } from 'vitest'
import { rangeOf } from '../../../src/gateway/tasks/range.ts'

describe('ranges of a file of 100 bytes', () => {
  test.each([
    ['bytes=0-9', { first: 0, last: 9 }],
    ['bytes=90-', { first: 90, last: 99 }],
    ['bytes=90-1000', { first: 90, last: 99 }],
    ['bytes=-10', { first: 90, last: 99 }],
    ['bytes=-1000', { first: 0, last: 99 }],
    [' BYTES = 1 - 2 ', { first: 1, last: 2 }],
    ['bytes = 1 -', { first: 1, last: 99 }],
    ['bytes=-0', 'none'],
    ['bytes=100-', 'none'],
  ])('%s', (header, range) => {
    expect(rangeOf(header, 100)).toEqual(range)
  })

  test.each(['', 'bytes=-', 'bytes=2-1', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=1 2-3', 'bytes=a-b', '0-1'])(
    'the whole file for "%s"',
    header => {
      expect(rangeOf(header, 100)).toBeUndefined()
    },
  )

  test('a header of blanks takes no more time than its length', () => {
    const blanks = ' '.repeat(8000)
    const began = performance.now()
    expect(rangeOf(`bytes=${blanks}-${blanks}x`, 100)).toBeUndefined()
    expect(performance.now() - began).toBeLessThan(1000)
  })
})
