import { expect, test } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/*
 * Cohere's models of version 3 embed images only as `images` with the type `image` (docs.cohere.com, "Embed v3.0 Models
 * are now Multimodal"). Version 4 takes `inputs`, and reads several inputs of the type `image` as one
 * (stdapi-ai/stdapi.ai#198).
 */

const URL = 'data:image/png;base64,iVBORw0KGgo='

const sent = (model: string, input: readonly object[], task?: string) => {
  const body = { model, input: input as never, ...(task === undefined ? {} : { task }) }
  const request = READERS['embeddings']!.request!({ path: '/embeddings', query: {}, headers: {}, body })
  return WRITERS['cohere']!.request!(request, { dialect: {}, native: false }).wire.body
}

test.each([undefined, 'retrieval.query'])('images reach models of version 3 as images, with the purpose %s', task => {
  const head = { embedding_types: ['float'], images: [URL], input_type: 'image' }
  for (const model of ['embed-english-v3.0', 'embed-multilingual-light-v3.0', 'cohere.embed-english-v3'])
    expect(sent(model, [{ image: URL }], task)).toEqual({ model, ...head })
})

test('several images reach models of version 4 as inputs of another type than image', () => {
  const input = { content: [{ type: 'image_url', image_url: { url: URL } }] }
  expect(sent('embed-v4.0', [{ image: URL }, { image: URL }])).toMatchObject({
    inputs: [input, input],
    input_type: 'search_document',
  })
  expect(sent('embed-v4.0', [{ image: URL }], 'retrieval.query')).toMatchObject({ input_type: 'search_query' })
})

test('texts reach models of version 3 as texts', () => {
  expect(sent('embed-english-v3.0', [{ text: 'a' }])).toMatchObject({ texts: ['a'], input_type: 'search_document' })
})
