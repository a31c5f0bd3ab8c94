import type { Part } from '../../canonical/content.ts'
import { isObject, type JsonObject, parseObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { NumbersText, type Vector } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf } from '../fields.ts'
import { readInputUsage } from '../usage/input-usage.ts'
import { FORMAT } from './request.ts'

const KNOWN_FIELDS = new Set(['object', 'data', 'model', 'usage', 'id', 'created'])

/**
 * Reads a whole answer (docs/wire/embeddings.md#openai): one vector per input, in the order of the inputs. The numbers
 * are not parsed.
 *
 * @throws GatewayError for any other body.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const { data } = body
  if (!Array.isArray(data)) throw faultyAnswer(body, 'is not a list of embeddings', readInnerError)
  const fields = { id: anyText(body['id']), model: anyText(body['model']), created: anyNumber(body['created']) }
  const { id, model, created: createdAt } = fields
  const usage = anyObject(body['usage'])
  const unreadFields = Object.entries({ ...fields, usage }).flatMap(([field, value]) =>
    value === undefined ? field : [],
  )
  const entries = anyObjects(data)
  const sorted = inOrder(entries)
  const result = {
    ...defined({ id, model, createdAt }),
    candidates: [{ content: sorted.map(readEntry) }],
    ...defined({ usage: usage && readInputUsage(FORMAT, usage) }),
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
  }
  return sorted === entries ? withWireSource(result, FORMAT, body) : result
}

/** Sorts the entries by their index, if each has one. */
function inOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  const indexes = entries.map(({ index }) => (typeof index === 'number' ? index : Number.NaN))
  const isSorted = indexes.every((index, at) => at === 0 || !(index < indexes[at - 1]!))
  if (isSorted || indexes.some(Number.isNaN)) return entries
  return entries.toSorted((a, b) => Number(a['index']) - Number(b['index']))
}

const ENTRY = new Set(['object', 'index', 'embedding'])

/** Reads one entry. Sparse and multiple vectors, which only Jina has, become opaque. */
function readEntry(wire: JsonObject): Part {
  const { embedding: vector } = wire
  if (!isVector(vector)) return { type: 'opaque', format: FORMAT, value: wire }
  return { type: 'embedding', vector, ...extrasOf(FORMAT, wire, ENTRY) }
}

const isVector = (value: unknown): value is Vector =>
  Array.isArray(value) || typeof value === 'string' || value instanceof NumbersText

const KEY = '"embedding"'
/** Key of the placeholder for a removed vector. It never occurs as a token in a vendor's sparse vector. */
const MARKER = '\u0001'

/**
 * Parses an answer's body but leaves its vectors as text. A hundred vectors have two million digits, and most answers
 * are only passed on.
 *
 * @returns undefined for text that is not a JSON object.
 */
export function parseUntouched(text: string): JsonObject | undefined {
  const parts: string[] = []
  const lists: NumbersText[] = []
  let from = 0
  for (let key = text.indexOf(KEY); key !== -1; key = text.indexOf(KEY, key + KEY.length)) {
    const start = valueAt(text, key + KEY.length)
    if (start === -1 || text[start] !== '[') continue
    const end = text.indexOf(']', start)
    // A list without an end is not JSON, so that the rest need not be searched.
    if (end === -1) break
    const list = text.slice(start, end + 1)
    if (!isFlat(list)) return parseObject(text)
    parts.push(text.slice(from, start), `{"\\u0001":${lists.length}}`)
    lists.push(new NumbersText(list))
    from = end + 1
  }
  if (lists.length === 0) return parseObject(text)
  const body = parseObject(parts.join('') + text.slice(from))
  return body === undefined ? undefined : (withVectors(body, lists) ?? parseObject(text))
}

/** Returns the index at which the value of a key starts, or -1 if `after` is not the end of a key. */
function valueAt(text: string, after: number): number {
  const colon = skipSpace(text, after)
  return text[colon] === ':' ? skipSpace(text, colon + 1) : -1
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 32) at++
  return at
}

/**
 * Characters that occur only in lists with values other than numbers. The last three start `null`, `NaN` and
 * `Infinity`.
 */
const OTHER_STARTS = ['"', '{', 'n', 'N', 'I']

const isFlat = (list: string): boolean => list.lastIndexOf('[') === 0 && !OTHER_STARTS.some(sign => list.includes(sign))

/** Puts the vectors back into the body. Returns undefined if a vector is in an unexpected place. */
function withVectors(body: JsonObject, lists: readonly NumbersText[]): JsonObject | undefined {
  const { data } = body
  if (!Array.isArray(data)) return undefined
  let found = 0
  const entries = data.map(entry => {
    const mark = isObject(entry) && isObject(entry['embedding']) ? entry['embedding'][MARKER] : undefined
    if (typeof mark !== 'number') return entry
    found++
    return { ...(entry as JsonObject), embedding: lists[mark] as never }
  })
  return found === lists.length ? { ...body, data: entries } : undefined
}
