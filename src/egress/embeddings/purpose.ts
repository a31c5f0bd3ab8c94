import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { FORMAT, type WriteContext } from './input.ts'

/** A vendor's value for a purpose, and the purpose it stands for, where that is only near to it. */
type PurposeValue = readonly [value: string, means?: EmbeddingPurpose]
type PurposeValues = { readonly [P in EmbeddingPurpose]?: PurposeValue }

const VOYAGE: PurposeValues = {
  query: ['query'],
  document: ['document'],
  'question-answering': ['query', 'query'],
  'fact-verification': ['query', 'query'],
  'code-query': ['query', 'query'],
}

const JINA: PurposeValues = {
  query: ['retrieval.query'],
  document: ['retrieval.passage'],
  similarity: ['text-matching'],
  'question-answering': ['retrieval.query', 'query'],
  'fact-verification': ['retrieval.query', 'query'],
}
const NEAR_QUERY: PurposeValue = ['retrieval.query', 'query']

/** Jina's models differ in their tasks; the first matching row applies. */
const JINA_MODELS: readonly (readonly [model: RegExp, values: PurposeValues])[] = [
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

/**
 * The vectors' purpose, in the upstream's field and value; in the caller's spelling where the upstream's field is not
 * declared.
 */
export function writePurpose(request: CanonicalRequest, { dialect, native, losses }: WriteContext): JsonObject {
  const purpose = request.output.embedding?.purpose
  if (purpose === undefined) return {}
  const spelled = native
    ? (spelt(request, FORMAT)['purpose'] as { field: string; word: string } | undefined)
    : undefined
  const field = dialect.purpose_field ?? spelled?.field
  const path = ['output', 'embedding', 'purpose']
  if (field === undefined) {
    losses.drop(path, 'no-purpose')
    return {}
  }
  if (spelled?.field === field) return { [field]: spelled.word }
  const [value, means = purpose] = valuesOf(field, request.model)[purpose] ?? []
  if (value === undefined) losses.drop(path, 'no-such-purpose')
  else if (means !== purpose) losses.change(path, means, 'nearest-purpose')
  return value === undefined ? {} : { [field]: value }
}

const valuesOf = (field: string, model: string): PurposeValues =>
  field === 'input_type' ? VOYAGE : (JINA_MODELS.find(([pattern]) => pattern.test(model))?.[1] ?? {})
