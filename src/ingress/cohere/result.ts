import type { EmbeddingPart, Part } from '../../canonical/content.ts'
import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { Vector } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf } from '../fields.ts'
import { readMeta } from '../usage/meta.ts'
import { FORMAT } from './request.ts'

/**
 * Reads a whole answer (docs/wire/embeddings.md#cohere, docs/wire/rerank.md#response): ranks in the upstream's order,
 * or one vector per input in the inputs' order.
 *
 * @throws GatewayError for any other body.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  if (Array.isArray(body['results'])) return withWireSource(readRanking(body, body['results']), FORMAT, body)
  const { embeddings } = body
  if (Array.isArray(embeddings) || isObject(embeddings))
    return withWireSource(readVectors(body, embeddings), FORMAT, body)
  throw new GatewayError(
    upstreamFailed(retrievalMessage(body) ?? "The upstream's answer has neither a ranking nor vectors."),
  )
}

/** Reads the fields that both kinds of answers have. */
function readHead(body: JsonObject) {
  const id = anyText(body['id'])
  const meta = anyObject(body['meta'])
  // Cohere's answers contain no model name, but those of compatible servers do. Callers must not see that name.
  const model = anyText(body['model'])
  const fields = { id, meta, model }
  return {
    read: Object.keys(fields).filter(field => fields[field as keyof typeof fields] !== undefined),
    head: defined({ id, model }),
    tail: defined({ usage: meta && readMeta(FORMAT, meta) }),
  }
}

function readRanking(body: JsonObject, results: readonly Json[]): CanonicalResult {
  const { read, head, tail } = readHead(body)
  const node = extrasOf(FORMAT, body, new Set(['results', ...read]))
  return { ...head, candidates: [{ content: anyObjects(results).map(readRank) }], ...tail, ...node }
}

const RANK = new Set(['index', 'relevance_score'])

/** Reads one rank. An entry of an unknown form becomes opaque. */
function readRank(wire: JsonObject): Part {
  const index = anyNumber(wire['index'])
  const score = anyNumber(wire['relevance_score'])
  if (index === undefined || score === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  return { type: 'rank', index, score, ...extrasOf(FORMAT, wire, RANK) }
}

/** Vector types in order of preference: integers before bits. */
const TYPES = ['float', 'base64', 'int8', 'uint8', 'binary', 'ubinary']

function readVectors(body: JsonObject, embeddings: JsonObject | readonly Json[]): CanonicalResult {
  const { read, head, tail } = readHead(body)
  const lists: JsonObject = isObject(embeddings) ? embeddings : { float: embeddings }
  const type = TYPES.find(one => isVectors(lists[one]))
  const vectors = (type === undefined ? [] : lists[type]) as readonly Vector[]
  const parallel = Object.entries(lists).filter(([one, list]) => one !== type && isAlong(list, vectors))
  const otherLists = Object.entries(lists).filter(([one, list]) => one !== type && !isAlong(list, vectors))
  const echoes = isAlong(body['texts'], vectors) ? (body['texts'] as readonly Json[]) : undefined
  const content = vectors.map((vector, index): EmbeddingPart => {
    const otherEncodings = parallel.map(([one, list]) => [one, (list as readonly Json[])[index]!] as const)
    return {
      type: 'embedding',
      vector,
      // The returned text only repeats the caller's input.
      ...(echoes === undefined ? {} : { spelling: { [FORMAT]: { text: echoes[index]! } } }),
      ...(otherEncodings.length === 0 ? {} : { extras: { [FORMAT]: Object.fromEntries(otherEncodings) } }),
    }
  })
  const knownFields = ['embeddings', 'response_type', ...(echoes === undefined ? [] : ['texts'])]
  const unreadFields = typeof body['response_type'] === 'string' ? [] : ['response_type']
  const extras = {
    ...extrasOf(FORMAT, body, new Set([...read, ...knownFields]), unreadFields).extras?.[FORMAT],
    ...(otherLists.length === 0 ? {} : { embeddings: Object.fromEntries(otherLists) }),
  }
  return {
    ...head,
    candidates: [{ content }],
    ...tail,
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
  }
}

const isVectors = (list: Json | undefined): boolean =>
  Array.isArray(list) && (list.every(Array.isArray) || list.every(one => typeof one === 'string'))

const isAlong = (list: Json | undefined, vectors: readonly Vector[]): boolean =>
  Array.isArray(list) && vectors.length > 0 && list.length === vectors.length
