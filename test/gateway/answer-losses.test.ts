import { expect, test } from 'vitest'
import type { Loss } from '../../src/canonical/loss.ts'
import { reportedOfAnswer } from '../../src/gateway/answer-losses.ts'

const USAGE: Loss = { path: ['usage'], kind: 'dropped', reason: 'bytes-only' }

test('usage that a recording has no place for is reported, unless it counts nothing', () => {
  expect(reportedOfAnswer([USAGE], { input: 14, output: 101 })).toEqual([USAGE])
  expect(reportedOfAnswer([USAGE], { input: 0 })).toEqual([])
  expect(reportedOfAnswer([USAGE], undefined)).toEqual([])
})
