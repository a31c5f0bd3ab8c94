import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { VectorEncoding } from '../../canonical/vector.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, number, required, rest, spelling, text } from '../fields.ts'
import { readInput } from './input.ts'
import { readPurpose } from './purpose.ts'
import * as wire from './wire.ts'

const FORMAT = 'embeddings'

/** `POST /v1/embeddings` (FORMATS §8), in OpenAI's fields or those of Voyage and Jina, as a canonical request. */
export const readRequest = ({ body }: WireRequest): CanonicalRequest =>
  readValidated(wire.request, body, () => read(body))

const TAKEN = new Set([
  ...['model', 'input', 'dimensions', 'output_dimension', 'encoding_format', 'embedding_type'],
  ...['input_type', 'task', 'user'],
])

function read(body: JsonObject): CanonicalRequest {
  const refused: string[] = []
  const { messages, as } = readInput(required(body['input'] ?? undefined))
  const dimensions = readDimensions(body, refused)
  const encoding = readEncoding(body, refused)
  const purpose = readPurpose(body, refused)
  const embedding = defined({
    dimensions: dimensions.value,
    encoding: encoding.value,
    purpose: purpose.value,
  }) satisfies Output['embedding']
  const spelt = spelling({ input: as, dimensions: dimensions.as, encoding: encoding.as, purpose: purpose.as })
  return {
    model: required(text(body['model'])),
    messages,
    output: { modalities: ['embedding'], ...(Object.keys(embedding).length === 0 ? {} : { embedding }) },
    sampling: {},
    ...defined({ endUser: text(body['user']) }),
    stream: false,
    ...rest(FORMAT, body, TAKEN, spelt, refused),
  }
}

/** A setting, and its field where that is not the usual one. */
interface Setting<T> {
  readonly value?: T | undefined
  readonly as?: Json | undefined
}

function readDimensions(body: JsonObject, refused: string[]): Setting<number> {
  const usual = number(body['dimensions'])
  const other = number(body['output_dimension'])
  if (usual === undefined) return other === undefined ? {} : { value: other, as: 'output_dimension' }
  refused.push('output_dimension')
  return { value: usual }
}

function readEncoding(body: JsonObject, refused: string[]): Setting<VectorEncoding> {
  const usual = encodingIn(text(body['encoding_format']))
  const other = encodingIn(body['embedding_type'])
  if (usual === undefined) refused.push('encoding_format')
  if (usual !== undefined || other === undefined) refused.push('embedding_type')
  if (usual !== undefined) return { value: usual }
  return other === undefined ? {} : { value: other, as: 'embedding_type' }
}

const encodingIn = (value: Json | undefined): VectorEncoding | undefined =>
  value === 'float' || value === 'base64' ? value : undefined
