import { expect, test } from 'vitest'
import type { Loss } from '../../src/canonical/loss.ts'
import { reportedAnswerLosses } from '../../src/gateway/answer-losses.ts'

const USAGE: Loss = { path: ['usage'], kind: 'dropped', reason: 'bytes-only' }

test('usage that a recording has no place for is reported, unless it counts nothing', () => {
  expect(reportedAnswerLosses([USAGE], { input: 14, output: 101 })).toEqual([USAGE])
  expect(reportedAnswerLosses([USAGE], { input: 0 })).toEqual([])
  expect(reportedAnswerLosses([USAGE], undefined)).toEqual([])
})
