import { append } from '../../canonical/append.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { EmbeddingPurpose } from '../../canonical/request.ts'

/** The vendors' values for the purpose of vectors (FORMATS §8): Voyage in `input_type`, Jina in `task`. */
const PURPOSES: ReadonlyMap<Json | undefined, EmbeddingPurpose> = new Map<Json | undefined, EmbeddingPurpose>([
  ['query', 'query'],
  ['search_query', 'query'],
  ['retrieval.query', 'query'],
  ['document', 'document'],
  ['passage', 'document'],
  ['search_document', 'document'],
  ['retrieval.passage', 'document'],
  ['code.passage', 'document'],
  ['qa.passage', 'document'],
  ['nl2code.passage', 'document'],
  ['code2code.passage', 'document'],
  ['code2nl.passage', 'document'],
  ['code2completion.passage', 'document'],
  ['text-matching', 'similarity'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
  ['separation', 'clustering'],
  ['qa.query', 'question-answering'],
  ['code.query', 'code-query'],
  ['nl2code.query', 'code-query'],
])

const FIELDS = ['input_type', 'task'] as const

/** The purpose of the vectors, with the field and value it was written in; an unknown value is refused. */
export function readPurpose(
  body: JsonObject,
  refused: string[],
): { readonly value?: EmbeddingPurpose; readonly as?: JsonObject } {
  const field = FIELDS.find(one => PURPOSES.has(body[one]))
  append(
    refused,
    FIELDS.filter(one => one !== field),
  )
  return field === undefined ? {} : { value: PURPOSES.get(body[field])!, as: { field, word: body[field]! } }
}
