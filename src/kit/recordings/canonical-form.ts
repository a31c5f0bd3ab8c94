import { createHash } from 'node:crypto'
import { BufferedBytes } from '../../canonical/bytes.ts'
import type { MediaPart, Part } from '../../canonical/content.ts'
import { parseCallData } from '../../canonical/exact-numbers.ts'
import { append } from '../../canonical/lists.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { hasIndependentInputs } from '../../canonical/work.ts'

/**
 * Fields that cannot change the words of an answer: spelling, streaming, caches and the signatures of earlier answers.
 */
const IRRELEVANT_FIELDS: ReadonlySet<string> = new Set([
  'spelling',
  'stream',
  'signature',
  'cache',
  'cacheKey',
  'redundant',
])
/** Fields whose values are data of callers, in which field names have no meaning. */
const DATA_FIELDS: ReadonlySet<string> = new Set(['extras', 'metadata', 'value', 'schema', 'parameters'])
/** Maximum length of base64 in a form, in characters. Longer base64 is replaced by its digest. */
const MAX_BASE64_LENGTH = 100

/** Returns a request as JSON that is equal for requests with the same meaning, however their format spells them. */
export function canonicalForm(request: CanonicalRequest): JsonObject {
  const ids = new CallNames()
  const messages = request.messages.map(message => ({ ...message, content: message.content.map(partWith(ids)) }))
  const fullForm = comparable({ ...request, messages }) as JsonObject
  const list = (fullForm['messages'] ?? []) as readonly JsonObject[]
  return withoutDefaults({ ...fullForm, messages: hasIndependentInputs(request) ? list : joinedTurns(list) })
}

/** Names calls by their order, because every answer has new ids. */
class CallNames {
  private readonly names = new Map<string, string>()

  of(id: string): string {
    return getOrAdd(this.names, id, () => `call_${this.names.size + 1}`)
  }
}

const partWith =
  (ids: CallNames) =>
  (part: Part): Json => {
    if (part.type === 'tool-call')
      return {
        ...(part as object),
        id: ids.of(part.id),
        arguments: part.freeform ? part.arguments : argumentsOf(part.arguments),
      }
    if (part.type === 'tool-result') {
      // The call also has the name.
      const { name: _, ...result } = part
      const content = part.content.filter(one => one.type !== 'text' || one.text !== '').map(partWith(ids))
      return { ...(result as object), id: ids.of(part.id), content }
    }
    return (part.type === 'media' ? comparedMedia(part) : part) as unknown as Json
  }

/** Returns media with its bytes as base64. Only documents have a name that models see; others are often random. */
function comparedMedia({ name, source, ...media }: MediaPart): object {
  return {
    ...media,
    name: media.kind === 'file' ? name : undefined,
    source: source.type === 'bytes' ? { type: 'base64', mediaType: source.mediaType, data: dataOf(source) } : source,
  }
}

const dataOf = ({ bytes }: { readonly bytes: unknown }): string =>
  bytes instanceof BufferedBytes ? bytes.toJSON() : ''

/** Parses arguments as JSON, with exact integers. Malformed arguments of a model stay text. */
const argumentsOf = (text: string): Json => (text.trim() === '' ? {} : (parseCallData(text) ?? text))

/** Copies a value without fields that are undefined, empty or irrelevant. */
function comparable(value: unknown, isData = false): Json {
  if (Array.isArray(value)) return value.map(item => comparable(item, isData))
  if (!isObject(value)) return (value ?? null) as Json
  const entries = Object.entries(value)
    .filter(([name, item]) => (item as unknown) !== undefined && (isData || !IRRELEVANT_FIELDS.has(name)))
    .map(([name, item]) => [name, fieldOf(name, item, isData)] as const)
    .filter(([name, item]) => isData || name === 'arguments' || !isEmpty(item))
  return Object.fromEntries(entries)
}

function fieldOf(name: string, item: Json, isData: boolean): Json {
  if (name === 'extras' && !isData && isObject(item))
    return Object.fromEntries(
      Object.entries(item).flatMap(([format, own]) => (isEmpty(own) ? [] : [[format, comparable(own, true)]])),
    )
  if (name === 'data' && !isData && typeof item === 'string' && item.length > MAX_BASE64_LENGTH) return digestOf(item)
  return comparable(item, isData || DATA_FIELDS.has(name) || name === 'arguments')
}

const isEmpty = (value: Json): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

const digestOf = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64')
  return `sha256:${createHash('sha256').update(bytes).digest('hex')} (${bytes.length} bytes)`
}

/** Joins adjacent turns of one role. Leaves out turns and texts without content. */
export function joinedTurns(messages: readonly JsonObject[]): readonly JsonObject[] {
  const turns: (JsonObject & { readonly content: JsonObject[] })[] = []
  for (const { content = [], ...head } of messages) {
    const parts = (content as readonly JsonObject[]).filter(hasContent)
    const last = turns.at(-1)
    if (parts.length === 0 && head['extras'] === undefined) continue
    // The list grows in place: to copy it for each of very many turns would take quadratic time.
    if (last !== undefined && isSameHead(last, head)) append(last.content, parts)
    else turns.push({ ...head, content: parts })
  }
  return turns
}

const isSameHead = (a: JsonObject, b: JsonObject): boolean =>
  a['role'] === b['role'] && a['name'] === b['name'] && a['extras'] === undefined && b['extras'] === undefined

/** Returns true if a part has content. An empty text has lost its field `text` above. */
const hasContent = (part: JsonObject): boolean => Object.keys(part).length > 1

/** Values that mean the same as an absent field. */
const DEFAULTS: { readonly [field: string]: string } = {
  toolChoice: '{"mode":"auto"}',
}

const withoutDefaults = (form: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(form).filter(([field, value]) => DEFAULTS[field] !== JSON.stringify(value)))
