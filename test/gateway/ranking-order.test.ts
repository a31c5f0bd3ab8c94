import { expect, test } from 'vitest'
import { opener } from '../builders/opener.ts'

/* A server that answers in the order of the documents and ignores `top_n` (mudler/LocalAI#7189, November 2025). */

const { open } = opener()

const RESULTS = [-2.5, 7.25, 1].map((relevance_score, index) => ({ index, relevance_score }))

const ranked = async (fields: object, results: readonly object[] = RESULTS) => {
  const body = { model: 'm', object: 'list', results, usage: { total_tokens: 3 } }
  const { testServer } = await open(
    response => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    {},
    { format: 'rerank' },
  )
  const asked = { model: 'm', query: 'q', documents: ['a', 'b', 'c'], ...fields }
  const { json } = await testServer.ask('/v1/rerank', asked)
  return (json.results ?? json.data).map(({ index }: { index: number }) => index)
}

test.each([
  [{}, [1, 2, 0]],
  [{ return_documents: false }, [1, 2, 0]],
  [{ top_n: 1 }, [1]],
  [{ top_n: 2, return_documents: false }, [1, 2]],
  [{ top_k: 1 }, [1]],
])('of %j, the best documents stay, the best first', async (fields, indexes) => {
  expect(await ranked(fields)).toEqual(indexes)
})

test('equal scores keep their order', async () => {
  expect(
    await ranked(
      {},
      [2, 0, 1].map(index => ({ index, relevance_score: 0.5 })),
    ),
  ).toEqual([2, 0, 1])
})
