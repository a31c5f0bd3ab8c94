import { expect, test } from 'vitest'
import type { Json } from '../../../src/canonical/node.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { asked } from '../../laws/work/embedding.ts'

const read = (predictions: readonly Json[], others: object = {}) =>
  READERS['contents']!.result!({ status: 200, headers: {}, body: { predictions, ...others } as never }, asked)

const vector = (values: Json, statistics?: Json): Json => ({
  embeddings: { values, ...(statistics === undefined ? {} : { statistics }) } as never,
})

test('the vectors stand in the order of the predictions, and their tokens are added', () => {
  const counted = [vector([1, 2], { token_count: 3, truncated: false }), vector([3, 4], { token_count: 4 })]
  expect(read(counted, { metadata: { billableCharacterCount: 9 } })).toEqual({
    candidates: [
      {
        content: [
          { type: 'embedding', vector: [1, 2] },
          { type: 'embedding', vector: [3, 4] },
        ],
      },
    ],
    usage: { input: 7 },
  })
})

test('a count that lacks for one vector is unknown for all', () => {
  expect(read([vector([1], { token_count: 3 }), vector([2])])).not.toHaveProperty('usage')
  expect(read([vector([1], { token_count: '3' })])).not.toHaveProperty('usage')
  expect(read([])).not.toHaveProperty('usage')
})

test('what is no vector is opaque, and fields of others remain', () => {
  const { candidates, extras } = read([vector('none'), { scores: [1] }, vector([1], { truncated: true })], { a: 1 })
  expect(candidates[0]!.content.map(({ type }) => type)).toEqual(['opaque', 'opaque', 'embedding'])
  expect(candidates[0]!.content[2]).toMatchObject({ extras: { contents: { statistics: { truncated: true } } } })
  expect(extras).toEqual({ contents: { a: 1 } })
})
