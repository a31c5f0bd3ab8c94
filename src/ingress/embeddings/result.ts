import type { Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { NumbersText, type Vector } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, rest, spelling } from '../fields.ts'
import { readInputUsage } from '../usage/input-usage.ts'

const FORMAT = 'embeddings'

const TAKEN = new Set(['object', 'data', 'model', 'usage', 'id', 'created'])

/** A whole answer (FORMATS §8): one vector for each input, in the order of the inputs; numbers are not parsed. */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const { data, object } = body
  if (!Array.isArray(data)) throw new GatewayError(body['error'] == null ? NOT_AN_ANSWER : readInnerError(body))
  const id = anyText(body['id'])
  const model = anyText(body['model'])
  const createdAt = anyNumber(body['created'])
  const usage = anyObject(body['usage'])
  const fields = { id, model, created: createdAt, usage }
  const spelt = spelling({
    object: object === 'list' ? undefined : object,
    with: listed(['id', 'created'].filter(field => fields[field as keyof typeof fields] !== undefined)),
    without: listed(
      Object.entries({ object, model, usage }).flatMap(([field, value]) => (value === undefined ? field : [])),
    ),
  })
  const refused = Object.keys(fields).filter(field => fields[field as keyof typeof fields] === undefined)
  return {
    ...defined({ id, model, createdAt }),
    candidates: [{ content: inOrder(anyObjects(data)).map(readEntry) }],
    ...defined({ usage: usage && readInputUsage(FORMAT, usage) }),
    ...rest(FORMAT, body, TAKEN, spelt, refused),
  }
}

const NOT_AN_ANSWER = {
  kind: 'upstream-failed',
  message: 'The upstream sent something that is no list of embeddings.',
} as const

const listed = (names: readonly string[]): readonly string[] | undefined => (names.length === 0 ? undefined : names)

/** The entries sorted by their own index, where each has one. */
function inOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  const places = entries.map(({ index }) => (typeof index === 'number' ? index : Number.NaN))
  const ordered = places.every((place, at) => at === 0 || !(place < places[at - 1]!))
  if (ordered || places.some(Number.isNaN)) return entries
  return entries.toSorted((a, b) => Number(a['index']) - Number(b['index']))
}

const ENTRY = new Set(['object', 'index', 'embedding'])

/** Sparse and multiple vectors are Jina's alone and stay opaque. */
function readEntry(wire: JsonObject, at: number): Part {
  const { embedding: vector, index, object } = wire
  if (!isVector(vector)) return { type: 'opaque', format: FORMAT, value: wire }
  const part = { type: 'embedding', vector } as const
  if (index === at && object === 'embedding' && Object.keys(wire).length === ENTRY.size) return part
  const spelt = spelling({
    index: index === at ? undefined : index,
    object: object === 'embedding' ? undefined : object,
    without: listed(['index', 'object'].filter(field => wire[field] === undefined)),
  })
  return { ...part, ...rest(FORMAT, wire, ENTRY, spelt) }
}

const isVector = (value: unknown): value is Vector =>
  Array.isArray(value) || typeof value === 'string' || value instanceof NumbersText
