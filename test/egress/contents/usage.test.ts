import { expect, test } from 'vitest'
import { Losses } from '../../../src/canonical/loss.ts'
import type { Usage } from '../../../src/canonical/result.ts'
import { writeUsage } from '../../../src/egress/contents/usage.ts'

const written = (usage: Usage) => {
  const losses = new Losses()
  const { promptTokensDetails, candidatesTokensDetails } = writeUsage(usage, undefined, losses) ?? {}
  return {
    promptTokensDetails,
    candidatesTokensDetails,
    shown: losses.list.filter(({ restored }) => restored !== true),
  }
}

test('text tokens alone add no entry `AUDIO: 0`', () => {
  const usage = { input: 20, output: 8, reasoning: 3, inputBy: { audio: 0 }, outputBy: { audio: 0 } }
  expect(written(usage)).toEqual({
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
    shown: [],
  })
})

test('the rest beside other modalities counts as text', () => {
  expect(written({ input: 20, output: 8, inputBy: { audio: 12, image: 0 }, outputBy: { text: 2, audio: 6 } })).toEqual({
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 8 },
      { modality: 'AUDIO', tokenCount: 12 },
    ],
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: 2 },
      { modality: 'AUDIO', tokenCount: 6 },
    ],
    shown: [],
  })
})

test('a count of zero has no details', () => {
  expect(written({ input: 0, inputBy: { audio: 0 } })).toEqual({ shown: [] })
  expect(written({ inputBy: { audio: 0, image: 0 } })).toEqual({ shown: [] })
})
