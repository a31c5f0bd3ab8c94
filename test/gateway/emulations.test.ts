import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { Usage } from '../../src/canonical/result.ts'
import { severalImages } from '../../src/gateway/emulations/several-images.ts'
import type { Attempt } from '../../src/gateway/types.ts'

const REQUEST: CanonicalRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a square' }] }],
  output: { modalities: ['image'], candidates: 2 },
  sampling: {},
  stream: false,
}

const INCOMING = { call: { reply: {} }, report: { startAttempt: () => {} } }

/** The total usage of two images, where each answer reports its own. */
async function spent(...usages: readonly (Usage | undefined)[]): Promise<Usage | undefined> {
  const attempt = { request: REQUEST, incoming: INCOMING } as unknown as Attempt
  const left = [...usages]
  const { result } = await severalImages.answer(attempt, async () => {
    const usage = left.shift()
    return {
      result: { candidates: [{ content: [] }], ...(usage === undefined ? {} : { usage }) },
      losses: [],
      headers: {},
    }
  })
  expect(result.candidates).toHaveLength(2)
  return result.usage
}

test('what several pictures cost is their sum, and unknown where one does not tell: a part is never told for the whole', async () => {
  expect(await spent({ input: 1, output: 2 }, { input: 1, output: 3 })).toEqual({ input: 2, output: 5 })
  expect(await spent({ input: 1, output: 2 }, undefined)).toBeUndefined()
})

test('unfinished pictures are not asked for with several, which is told', async () => {
  const request: CanonicalRequest = { ...REQUEST, output: { ...REQUEST.output, image: { size: '1x1', previews: 2 } } }
  const path = ['output', 'image', 'previews']
  expect(severalImages.losses(request)).toEqual([{ kind: 'dropped', path, reason: 'no-unfinished-pictures' }])
  const attempt = { request, incoming: INCOMING } as unknown as Attempt
  const asked: CanonicalRequest[] = []
  await severalImages.answer(attempt, async (_, one) => {
    asked.push(one)
    return { result: { candidates: [{ content: [] }] }, losses: [], headers: {} }
  })
  expect(asked.map(({ output }) => output)).toEqual(Array(2).fill({ modalities: ['image'], image: { size: '1x1' } }))
})
