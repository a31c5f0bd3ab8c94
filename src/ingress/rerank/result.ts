import type { Part } from '../../canonical/content.ts'
import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf, WrongType } from '../fields.ts'
import { readInputUsage } from '../usage/input-usage.ts'
import { readMeta } from '../usage/meta.ts'
import { FORMAT, readDocument } from './request.ts'

const KNOWN_FIELDS = new Set(['id', 'model', 'object', 'results', 'data', 'usage', 'meta'])

/**
 * Reads a whole answer (docs/wire/rerank.md#response): ranks in the upstream's order. They are in `results`, or for
 * Voyage in `data`.
 *
 * @throws GatewayError for any other body.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const field = ['results', 'data'].find(one => Array.isArray(body[one]))
  if (field === undefined)
    throw new GatewayError(upstreamFailed(retrievalMessage(body) ?? 'The upstream sent no ranking.'))
  const id = anyText(body['id'])
  const model = anyText(body['model'])
  const meta = anyObject(body['meta'])
  const usage = anyObject(body['usage'])
  const readFields = new Set([
    ...[id === undefined ? '' : 'id', model === undefined ? '' : 'model', field],
    meta !== undefined ? 'meta' : usage === undefined ? '' : 'usage',
    ...(typeof body['object'] === 'string' ? ['object'] : []),
  ])
  const unreadFields = [...KNOWN_FIELDS].filter(one => !readFields.has(one))
  const result = {
    ...defined({ id, model }),
    candidates: [{ content: anyObjects(body[field]).map(readRank) }],
    ...defined({ usage: meta === undefined ? usage && readInputUsage(FORMAT, usage) : readMeta(FORMAT, meta) }),
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
  }
  return withWireSource(result, FORMAT, body)
}

const RANK = new Set(['index', 'relevance_score', 'document'])

/** Reads one rank. An entry of an unknown form becomes opaque. */
function readRank(wire: JsonObject): Part {
  const index = anyNumber(wire['index'])
  const score = anyNumber(wire['relevance_score'])
  if (index === undefined || score === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  const content = readEcho(wire['document'])
  const node = extrasOf(FORMAT, wire, RANK, content === undefined ? ['document'] : [])
  return { type: 'rank', index, score, ...defined({ content }), ...node }
}

function readEcho(document: Json | undefined): readonly Part[] | undefined {
  if (typeof document !== 'string' && !isObject(document)) return undefined
  try {
    return readDocument(document)
  } catch (thrown) {
    if (thrown instanceof WrongType) return undefined
    throw thrown
  }
}
