import { randomBytes } from 'node:crypto'
import { isObject, type Json, parseJson } from '../../canonical/node.ts'
import type { ServedAnswer } from './served-answer.ts'
import { linesOf } from './text-lines.ts'

/** Fields that contain ids of answers, items and calls, in any format. */
const ID_FIELDS = ['id', 'item_id', 'call_id', 'responseId', 'toolUseId', 'tool_use_id'] as const

/** Fields with content from models or callers, which contain no ids. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'args',
  'arguments',
  'parameters',
  'tools',
  'metadata',
  'data',
])
/** Objects whose `id` is the name of a model. */
const MODEL_OBJECTS: ReadonlySet<unknown> = new Set(['model', 'list'])

const ID_PATTERN = new RegExp(`"(?:${ID_FIELDS.join('|')})"\\s*:\\s*"([^"\\\\]+)"`, 'g')

/** Matches the suffix that ids get in an answer that also serves requests other than its own. */
const SUFFIX = /_replay[0-9a-f]{12}/g

/** Creates a suffix for the ids of one answer. */
export const newSuffix = (): string => `_replay${randomBytes(6).toString('hex')}`

/** Returns the suffix of an id in a text. */
export const suffixIn = (text: string): string | undefined => text.match(SUFFIX)?.[0]

/** Removes the suffixes of ids, so that a later request about an answer equals the recorded one. */
export const withoutSuffixes = (text: string): string => text.replaceAll(SUFFIX, '')

/**
 * Adds a suffix to the ids of an answer, so that each request that it serves gets different ids. Chunks are complete
 * events or complete bodies. Ids that already have a suffix keep it.
 */
export function withNewIds(answer: ServedAnswer, suffix: string): ServedAnswer {
  if (!/json|event-stream/i.test(answer.headers['content-type'] ?? '')) return answer
  const texts = answer.chunks.map(({ bytes }) => bytes.toString('utf8'))
  const ids = new Set(texts.flatMap(valuesIn).flatMap(idsIn))
  const withSuffixes = (text: string): string =>
    text.replaceAll(ID_PATTERN, (field, id: string) =>
      ids.has(id) && suffixIn(id) === undefined ? `${field.slice(0, -1)}${suffix}"` : field,
    )
  return {
    ...answer,
    chunks: answer.chunks.map((one, index) => ({ ...one, bytes: Buffer.from(withSuffixes(texts[index]!)) })),
  }
}

/** Returns the JSON values of a body or of events. */
function valuesIn(text: string): readonly Json[] {
  const whole = parseJson(text.replace(/^[[,]\s*(?=\{)/, ''))
  if (whole !== undefined) return [whole]
  const data = linesOf(text).filter(({ start }) => text.startsWith('data:', start))
  return data.flatMap(({ start, end }) => parseJson(text.slice(start + 'data:'.length, end)) ?? [])
}

function idsIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!isObject(value) || MODEL_OBJECTS.has(value['object'])) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === 'string') return (ID_FIELDS as readonly string[]).includes(key) ? [inner] : []
    return CONTENT_FIELDS.has(key) ? [] : idsIn(inner)
  })
}
