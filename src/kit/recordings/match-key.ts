import { createHash } from 'node:crypto'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import { workOf } from '../../canonical/work.ts'
import { isOption } from '../public-headers.ts'
import { jsonIn } from './body.ts'
import { canonicalForm } from './canonical-form.ts'
import { conversationForm } from './conversation-form.ts'
import { readRequest } from './read-request.ts'
import type { RecordedBody, RecordedRequest } from './recording.ts'
import { Redaction } from './redaction.ts'

/** The key that decides which recording answers a request. */
export interface MatchKey {
  /** The compared form of the request: the redacted canonical request without ignored fields. */
  readonly form: JsonObject
  /** Digest of the form without the options of the query. */
  readonly digest: string
  /** Digest of the options of the query, such as the page of a list, or undefined if there are none. */
  readonly options?: string
  /** Kind of work, or method and path if the request belongs to no format. */
  readonly work: string
  /**
   * Digest of the fields that all conversation formats support, so that the recording also answers callers of other
   * formats.
   */
  readonly conversation?: string
}

/** Placeholder for text that matches a rule of `--ignore`. */
const IGNORED_PLACEHOLDER = '[ignored]'

/**
 * Returns the match key of a recorded request, or of a request to the replayer, which redacts requests as the recorder
 * does.
 *
 * @param ignore rules of `--ignore`. Their paths name fields of the canonical request.
 */
export function matchKey(recorded: RecordedRequest, ignore: readonly string[] = []): MatchKey {
  const ignoreRedaction = new Redaction(ignore, [], IGNORED_PLACEHOLDER)
  const canonical = readRequest(recorded)?.canonical
  const fullForm = canonical === undefined ? plainForm(recorded) : canonicalForm(canonical)
  const form = ignoreRedaction.json(ignoreRedaction.without(fullForm)) as JsonObject
  const work = canonical === undefined ? `${recorded.method} ${recorded.path}` : workOf(canonical)
  const { plain, options } = canonical === undefined ? withoutOptions(form) : { plain: form, options: undefined }
  const key = { form, digest: digestOf(plain), work, ...defined({ options }) }
  return work !== 'conversation' ? key : { ...key, conversation: digestOf(conversationForm(form)) }
}

/** Returns the compared form of a request that belongs to no format. */
function plainForm({ method, path, query = {}, body }: RecordedRequest): JsonObject {
  const content = jsonIn(body) ?? body?.text ?? body?.base64 ?? sortedForm(body?.form)
  return { method, path, query, ...(content === undefined ? {} : { body: content }) }
}

/** Separates the options of the query from a form. */
function withoutOptions({ query, ...form }: JsonObject): { readonly plain: JsonObject; readonly options?: string } {
  const [options, others] = [true, false].map(wanted =>
    Object.fromEntries(Object.entries((query ?? {}) as JsonObject).filter(([name]) => isOption(name) === wanted)),
  ) as [JsonObject, JsonObject]
  const plain = query === undefined ? form : { ...form, query: others }
  return { plain, ...(Object.keys(options).length === 0 ? {} : { options: digestOf(options) }) }
}

/**
 * Returns the recordings of equal requests that have the wanted options, otherwise those without options, because
 * earlier versions recorded none.
 */
export function withOptions<T extends { readonly key: MatchKey }>(
  equal: readonly T[],
  wanted: MatchKey['options'],
): readonly T[] {
  const same = equal.filter(({ key }) => key.options === wanted)
  return same.length > 0 ? same : equal.filter(({ key }) => key.options === undefined)
}

/** Sorts the fields of a multipart form by name, because each SDK sends them in its own order. */
const sortedForm = (form: RecordedBody['form']): Json | undefined =>
  form?.toSorted((a, b) => (a.field === b.field ? 0 : a.field < b.field ? -1 : 1)) as Json | undefined

/** Hashes a form. The order of its fields does not matter. */
const digestOf = (form: JsonObject): string =>
  createHash('sha256')
    .update(JSON.stringify(withSortedKeys(form)))
    .digest('hex')
    .slice(0, 16)

const withSortedKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, withSortedKeys(item)]),
  )
}
