import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import { encodingOf, NumbersText, type Vector, type VectorEncoding, vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { writeVectors } from '../media/vectors.ts'
import { nativeBodyOf, OPTIONAL_HEAD } from '../native.ts'
import { nativeCounts, writeInputUsage } from '../usage/input-usage.ts'
import { FORMAT } from './request.ts'

/** Writes an answer as a list of embeddings in the requested encoding, if any (docs/wire/embeddings.md#openai). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const nativeBody = nativeBodyOf(result, FORMAT, OPTIONAL_HEAD)
  const requestedEncoding = request.output.embedding?.encoding
  if (nativeBody !== undefined && hasEncoding(result.candidates, requestedEncoding)) {
    const usage = nativeCounts(result.usage, FORMAT, COUNTS)
    const id = typeof nativeBody['id'] === 'string' ? undefined : requiredId(result, request)
    return {
      wire: { status: 200, headers: {}, ...bodyOrText({ ...nativeBody, ...defined({ id, usage }) }) },
      losses: [],
    }
  }
  const losses = new Losses(foreignLosses(result, FORMAT))
  if (result.model === undefined) losses.add(['model'], request.model, 'model-required')
  const id = requiredId(result, request)
  if (id !== undefined && id !== result.id) losses.add(['id'], id, 'id-required')
  const body = {
    ...defined({ id }),
    object: 'list',
    data: writeVectors(
      result,
      FORMAT,
      (part, path, index) => writeEntry(part, index, inEncoding(part, requestedEncoding, path, losses)),
      losses,
    ),
    model: result.model ?? request.model,
    usage: writeInputUsage(result.usage, FORMAT, COUNTS, losses),
    ...extrasFor(result, FORMAT),
  }
  return { wire: { status: 200, headers: {}, ...bodyOrText(body) }, losses: losses.list }
}

/** Returns the answer's id for clients that require one. */
const requiredId = ({ id }: CanonicalResult, request: CanonicalRequest): string | undefined =>
  spellingFor(request, FORMAT)['needsId'] === true ? (id ?? NO_ID) : undefined

/** Id of an answer whose upstream stated none. */
const NO_ID = 'embd'

const hasEncoding = ([candidate]: readonly Candidate[], requestedEncoding: VectorEncoding | undefined): boolean =>
  requestedEncoding === undefined ||
  candidate === undefined ||
  candidate.content.every(part => part.type !== 'embedding' || encodingOf(part.vector) === requestedEncoding)

/** Token counts that clients require. */
const COUNTS = ['prompt_tokens', 'total_tokens']

/** Writes the body as text if it contains unparsed vectors, so that their text is passed on unchanged. */
function bodyOrText(body: JsonObject): Pick<WireAnswer, 'body' | 'raw'> {
  const { data, ...others } = body
  const entries = data as readonly Json[]
  if (!entries.some(isUnparsed)) return { body }
  const head = JSON.stringify(others).slice(0, -1)
  const text = `${head}${head === '{' ? '' : ','}"data":[${entries.map(entryText).join(',')}]}`
  return { body: {}, raw: { mediaType: 'application/json; charset=utf-8', text } }
}

/** Returns true if the entry has an unparsed vector. An upstream's list may contain any JSON value. */
const isUnparsed = (entry: Json): entry is JsonObject =>
  isObject(entry) && (entry['embedding'] as unknown) instanceof NumbersText

/** Writes one entry as JSON text. An unparsed vector is left as received. */
function entryText(entry: Json): string {
  if (!isUnparsed(entry)) return JSON.stringify(entry)
  const { embedding, ...others } = entry
  const head = JSON.stringify(others).slice(0, -1)
  return `${head}${head === '{' ? '' : ','}"embedding":${(embedding as unknown as NumbersText).json}}`
}

/** Returns the vector in the requested encoding. A conversion is not a loss for the caller. */
function inEncoding(part: EmbeddingPart, encoding: VectorEncoding | undefined, path: Path, losses: Losses): Vector {
  if (encoding === undefined || encoding === encodingOf(part.vector)) return part.vector
  const vector = vectorAs(part.vector, encoding)
  losses.changeRestored([...path, 'vector'], vector, `asked-as-${encoding}`)
  return vector
}

const writeEntry = (part: EmbeddingPart, index: number, vector: Vector): JsonObject => ({
  object: 'embedding',
  index,
  embedding: vector as unknown as Json,
  ...extrasFor(part, FORMAT),
})
