import * as v from 'valibot'
import { isObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { byValue, count, maybe, shape } from '../errors/validation-error.ts'

/**
 * Schemas of Cohere's requests, API version 2 (docs/wire/embeddings.md#cohere, docs/wire/rerank.md#request). Unknown
 * fields are accepted.
 */

const texts = v.array(v.string())

const rerank = shape({
  model: v.string(),
  query: v.string(),
  documents: v.pipe(texts, v.minLength(1, 'There are no documents to rank.')),
  top_n: maybe(count),
})

const PARTS = { text: shape({ text: v.string() }), image_url: shape({ image_url: shape({ url: v.string() }) }) }
const input = shape({ content: v.array(byValue('type', PARTS, shape({ type: v.string() }))) })

/** Fields for inputs to embed: texts, image data, or inputs with several parts. */
export const LISTS = ['texts', 'images', 'inputs'] as const

const embed = v.pipe(
  shape({
    model: v.string(),
    texts: maybe(texts),
    images: maybe(texts),
    inputs: maybe(v.array(input)),
    input_type: maybe(v.string()),
    embedding_types: maybe(texts),
    output_dimension: maybe(v.number()),
  }),
  v.check(
    body => isObject(body) && LISTS.some(list => Array.isArray(body[list]) && body[list].length > 0),
    'There is nothing to embed.',
  ),
)

/** Returns true if a request asks for vectors rather than a ranking. */
export const isEmbed = ({ path }: WireRequest): boolean => path.endsWith('/embed')

export const request = rerank
/** Returns the schema for the endpoint in a request's path. */
export const requestAt = (wire: WireRequest): v.GenericSchema => (isEmbed(wire) ? embed : rerank)
