import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Fields and values that vendors of embeddings refuse with 400. */

const dialectOf = (vendor: string): JsonObject =>
  PRESETS.get(vendor)!.formats.find(({ format }) => format === 'embeddings')!.dialect ?? {}

const sent = (upstream: string | JsonObject, fields: object) => {
  const dialect = typeof upstream === 'string' ? dialectOf(upstream) : upstream
  const body = { model: 'm', input: ['a'], ...fields }
  const request = READERS['embeddings']!.request!({ path: '/embeddings', query: {}, headers: {}, body })
  const { wire, losses } = WRITERS['embeddings']!.request!(request, { dialect, native: true })
  return { body: wire.body, losses: losses.map(({ path }) => path.join('/')) }
}

/* "Unrecognized request arguments supplied: user" (ogx-ai/ogx#3559). */
test('Together gets no user, and the loss is reported', () => {
  expect(sent('together', { user: 'u-1', encoding_format: 'base64' })).toEqual({
    body: { model: 'm', input: ['a'], encoding_format: 'base64' },
    losses: ['endUser'],
  })
})

/* "Extra inputs are not permitted" (QuantumNous/new-api#1941); Voyage's and Mistral's clients send `output_dimension`. */
test.each(['jina', 'openai', 'azure-openai'])('%s gets the length of vectors under its own name', vendor => {
  expect(sent(vendor, { output_dimension: 256 })).toEqual({
    ...{ body: { model: 'm', input: ['a'], dimensions: 256 }, losses: [] },
  })
})

/* "Unrecognized request arguments supplied: dimensions" (ogx-ai/ogx#3559, read on 2026-12-01); mem0 always sends them. */
test('Together gets no length of vectors, and the loss is reported', () => {
  expect(sent('together', { dimensions: 1024 })).toEqual({
    body: { model: 'm', input: ['a'] },
    losses: ['output/embedding/dimensions'],
  })
})

test.each([
  ['search_query', 'query', []],
  ['passage', 'document', []],
  ['query', 'query', []],
  ['classification', undefined, ['output/embedding/purpose']],
])('Voyage gets, of the purpose %s of another vendor, %s', (input_type, written, losses) => {
  const field = written === undefined ? {} : { input_type: written }
  expect(sent('voyage', { input_type })).toEqual({ body: { model: 'm', input: ['a'], ...field }, losses })
})

/* "'input_type' parameter is required for asymmetric models" (OmniRoute#4341, honcho#779, read on 2026-12-01). */
describe('NVIDIA NIM, which demands `input_type`,', () => {
  const NVIDIA = { purpose_field: 'input_type', document_word: 'passage', default_purpose: 'query' }
  const PURPOSE = 'output/embedding/purpose'

  test.each([
    ['no purpose', {}, 'query', ['output/embedding']],
    ['no purpose but a length', { dimensions: 8 }, 'query', [PURPOSE]],
    ['a query', { input_type: 'query' }, 'query', []],
    ['a passage', { input_type: 'passage' }, 'passage', []],
    ['Voyage’s word', { input_type: 'document' }, 'passage', []],
    ['Cohere’s word', { input_type: 'search_document' }, 'passage', []],
    ['Jina’s word', { task: 'retrieval.passage' }, 'passage', []],
    ['a purpose that it lacks', { input_type: 'clustering' }, 'query', [PURPOSE]],
    ['an unknown word', { input_type: 'other' }, 'query', ['output/embedding', 'extras/embeddings/input_type']],
  ])('gets, of a caller with %s, one of its words', (_, fields, input_type, losses) => {
    const { body, losses: reported } = sent(NVIDIA, fields)
    expect(body).toMatchObject({ model: 'm', input: ['a'], input_type })
    expect(body).not.toHaveProperty('task')
    expect(reported).toEqual(losses)
  })

  test('gets its words from a caller of Cohere’s format', () => {
    const body = { model: 'm', texts: ['a'], input_type: 'search_document' }
    const request = READERS['cohere']!.request!({ path: '/v2/embed', query: {}, headers: {}, body })
    const { wire } = WRITERS['embeddings']!.request!(request, { dialect: NVIDIA, native: false })
    expect(wire.body).toMatchObject({ input_type: 'passage' })
  })
})

test.each([
  ['gemini-embedding-001', 'RETRIEVAL_QUERY', []],
  ['gemini-embedding-2', undefined, ['output/embedding/purpose no-purpose']],
  ['gemini-embedding-2-preview', undefined, ['output/embedding/purpose no-purpose']],
])('%s gets the purpose, or the loss is reported', (model, taskType, losses) => {
  const body = { model, texts: ['a', 'b'], input_type: 'search_query', embedding_types: ['float'] }
  const request = READERS['cohere']!.request!({ path: '/v2/embed', query: {}, headers: {}, body })
  const { wire, losses: reported } = WRITERS['contents']!.request!(request, { dialect: {}, native: false })
  const { requests } = wire.body as { requests: JsonObject[] }
  expect(requests.map(one => [one['model'], one['taskType']])).toEqual(Array(2).fill([`models/${model}`, taskType]))
  const shown = reported.filter(({ restored }) => restored !== true)
  expect(shown.map(({ path, reason }) => `${path.join('/')} ${reason}`)).toEqual(losses)
})

/* Azure refuses what OpenAI refuses, at each of its addresses. */
test('Azure’s deployments have the limits of OpenAI', () => {
  for (const vendor of ['azure-deployments', 'azure-openai']) expect(dialectOf(vendor)).toEqual(dialectOf('openai'))
})
