import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { FORMAT, type WriteContext } from './input.ts'

/** A vendor's word for a purpose, and what it means, where that is only near to it. */
type Word = readonly [word: string, means?: EmbeddingPurpose]
type Words = { readonly [P in EmbeddingPurpose]?: Word }

const VOYAGE: Words = {
  query: ['query'],
  document: ['document'],
  'question-answering': ['query', 'query'],
  'fact-verification': ['query', 'query'],
  'code-query': ['query', 'query'],
}

const JINA: Words = {
  query: ['retrieval.query'],
  document: ['retrieval.passage'],
  similarity: ['text-matching'],
  'question-answering': ['retrieval.query', 'query'],
  'fact-verification': ['retrieval.query', 'query'],
}
const NEAR_QUERY: Word = ['retrieval.query', 'query']

/** Jina's models differ in their tasks; the first row that fits counts. */
const JINA_MODELS: readonly (readonly [model: RegExp, words: Words])[] = [
  [/embeddings-v2|clip-v1|colbert/, {}],
  [
    /jina-code/,
    {
      query: ['nl2code.query', 'code-query'],
      document: ['nl2code.passage'],
      'code-query': ['nl2code.query'],
      'question-answering': ['qa.query'],
    },
  ],
  [/-v4/, { ...JINA, 'code-query': ['code.query'] }],
  [/-v3/, { ...JINA, classification: ['classification'], clustering: ['separation'], 'code-query': NEAR_QUERY }],
  [/./s, { ...JINA, classification: ['classification'], clustering: ['clustering'], 'code-query': NEAR_QUERY }],
]

/** What the vectors are for, in the upstream's field and word; as the caller said it where the upstream's field is not known. */
export function writePurpose(request: CanonicalRequest, { dialect, native, losses }: WriteContext): JsonObject {
  const purpose = request.output.embedding?.purpose
  if (purpose === undefined) return {}
  const said = native ? (spelt(request, FORMAT)['purpose'] as { field: string; word: string } | undefined) : undefined
  const field = dialect.purpose_field ?? said?.field
  const path = ['output', 'embedding', 'purpose']
  if (field === undefined) {
    losses.drop(path, 'no-purpose')
    return {}
  }
  if (said?.field === field) return { [field]: said.word }
  const [word, means = purpose] = wordsOf(field, request.model)[purpose] ?? []
  if (word === undefined) losses.drop(path, 'no-such-purpose')
  else if (means !== purpose) losses.change(path, means, 'nearest-purpose')
  return word === undefined ? {} : { [field]: word }
}

const wordsOf = (field: string, model: string): Words =>
  field === 'input_type' ? VOYAGE : (JINA_MODELS.find(([pattern]) => pattern.test(model))?.[1] ?? {})
