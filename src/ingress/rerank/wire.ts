import * as v from 'valibot'
import { count, maybe, maybeText, shape } from '../errors/validation-error.ts'
import { isFlag } from '../fields.ts'

/** A document: a string, or an object that may have a text and an image. */
const document = v.union([v.string(), shape({ text: maybeText, image: maybeText })])

/** A boolean, or its text, which RAGFlow sends to Xinference (docs/wire/rerank.md#request). */
const flag = v.custom<boolean | string>(
  value => typeof value === 'boolean' || (typeof value === 'string' && isFlag(value)),
  'Invalid type: Expected boolean',
)

/**
 * Schema of the rerank request of Jina, Voyage and Cohere's API version 1 (docs/wire/rerank.md#request). Unknown fields
 * are accepted.
 */
export const request = shape({
  model: v.string(),
  query: v.string(),
  documents: v.pipe(v.array(document), v.minLength(1, 'There are no documents to rank.')),
  top_n: maybe(count),
  top_k: maybe(count),
  return_documents: maybe(flag),
  rank_fields: maybe(v.array(v.string())),
})
