import type { Format, FormFile, RequestOnWire } from './format.ts'
import { isObject, type Json, type JsonObject, objectOf, parseJson } from './json.ts'

/** The hand-written request of a step. */
export interface WrittenRequest {
  /** HTTP method. POST by default. */
  readonly method?: string
  /** Path of the request. By default the format's path. */
  readonly path?: string
  /** JSON body, or the fields of the form. */
  readonly body: JsonObject
  readonly files?: readonly FormFile[]
  /** Fields that the answer must have. The request is repeated until the answer has them, to poll a job's state. */
  readonly until?: JsonObject
}

/**
 * Values for the placeholders of a written request: the model, and fields of the answers to earlier steps, such as
 * `1.last_id`.
 */
export interface PlaceholderValues {
  readonly model: string
  readonly answers: readonly JsonObject[]
  /**
   * Version of the format. Fields that the version refuses are left out. Without a version, the request is sent as
   * written.
   */
  readonly version?: string | undefined
}

/**
 * Returns the value at a path such as `data.0.id`. In a list, a name stands for the first item of that type, or the first
 * with such a field: `content.tool_use.id`, `parts.functionCall.functionCall.id`.
 */
const valueAt = (value: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, name) => fieldOf(inner, name), value)

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  if (!Array.isArray(value) || /^\d+$/.test(name)) return (value as JsonObject | null | undefined)?.[name]
  return value.find(item => isObject(item) && (item['type'] === name || Object.hasOwn(item, name)))
}

/**
 * Fills in the placeholders of a text. A value that the answer lacks becomes an empty text. A slash at the end of a
 * placeholder, as in `${1.name/}`, keeps the slashes of a value such as `models/a`.
 *
 * @param encode encodes the values of answers, because the target chose them.
 */
export const filledIn = (
  text: string,
  { model, answers }: PlaceholderValues,
  encode = (value: string) => value,
): string =>
  text.replace(PLACEHOLDER, (_, step: string | undefined, path = '', slash = '') => {
    if (step === undefined) return model
    const value = String(valueAt(answers[Number(step) - 1], path.split('.')) ?? '')
    return slash === '' ? encode(value) : value.split('/').map(encode).join('/')
  })

const PLACEHOLDER = /\$\{(?:model|(\d+)\.([\w.]+)(\/?))\}/g

/** A text that is nothing but a placeholder for a value of an answer. A question mark means that it may be missing. */
const WHOLE_PLACEHOLDER = /^\$\{(\d+)\.([\w.]+)(\??)\}$/

/** Returns the object, the list or the optional value that a text stands for, or undefined for any other text. */
function wholeValue(text: string, { answers }: PlaceholderValues): { readonly value: Json | undefined } | undefined {
  const [, step, path = '', optional] = WHOLE_PLACEHOLDER.exec(text) ?? []
  if (step === undefined) return undefined
  const value = valueAt(answers[Number(step) - 1], path.split('.'))
  return optional === '?' || (typeof value === 'object' && value !== null) ? { value } : undefined
}

/** Fills in the placeholders in all strings of a JSON value. A list for an item of a list adds its items. */
function filledValue(value: Json, values: PlaceholderValues): Json | undefined {
  if (typeof value === 'string') {
    const found = wholeValue(value, values)
    return found === undefined ? filledIn(value, values) : found.value
  }
  if (Array.isArray(value))
    return value.flatMap(one => {
      const filled = filledValue(one, values)
      return filled === undefined ? [] : typeof one === 'string' ? filled : [filled]
    })
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const filled = filledValue(one, values)
      return filled === undefined ? [] : [[name, filled]]
    }),
  )
}

/** Returns the request of a step for a model. */
export function requestOnWire(
  format: Format,
  stepRequest: WrittenRequest,
  stream: boolean,
  values: PlaceholderValues,
): RequestOnWire {
  const { method = 'POST', files } = stepRequest
  const { version } = values
  const allowed =
    version === undefined ? stepRequest.body : (format.versions?.allowed(version, stepRequest.body) ?? stepRequest.body)
  const isPlain = format.work === 'conversation' && values.answers.length === 0
  const filledBody = isPlain ? allowed : objectOf(filledValue(allowed, values))
  const body = method === 'POST' ? format.withModel(filledBody, values.model, stream) : filledBody
  const path =
    stepRequest.path === undefined
      ? format.path(values.model, stream, body)
      : filledIn(stepRequest.path, values, encodeURIComponent)
  return { method, path, body, ...(files === undefined ? {} : { files }) }
}

const textIn = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Builds the form of a request. A list becomes several fields with the same name. */
function formOf({ body, files = [] }: RequestOnWire): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, textIn(one))
  for (const { field, name, type, bytes } of files)
    form.append(field, new File([new Uint8Array(bytes)], name, { type }))
  return form
}

/** Encodes the body of a request. Returns the bytes and their content type. A GET request has neither. */
export async function encodeRequest(
  request: RequestOnWire,
): Promise<{ readonly type?: string; readonly bytes: Buffer }> {
  if (request.files !== undefined) {
    const form = new Response(formOf(request))
    return { type: form.headers.get('content-type')!, bytes: Buffer.from(await form.arrayBuffer()) }
  }
  if (request.method !== 'POST') return { bytes: Buffer.alloc(0) }
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(request.body)) }
}

/** Decodes a body as JSON or a form. Returns an empty body for any other type. */
export async function decodeBody(type: string, bytes: Buffer): Promise<Pick<RequestOnWire, 'body' | 'files'>> {
  if (!type.startsWith('multipart/form-data')) return { body: objectOf(parseJson(bytes.toString('utf8'))) }
  const init = { headers: { 'content-type': type } }
  const form = await new Response(new Uint8Array(bytes), init).formData().catch(() => new FormData())
  const fields: { [name: string]: Json } = {}
  const files: FormFile[] = []
  for (const [name, value] of form)
    if (typeof value === 'string') fields[name] = name in fields ? [fields[name]!, value].flat() : value
    else
      files.push({
        ...{ field: name, name: value.name, type: value.type },
        bytes: Buffer.from(await value.arrayBuffer()),
      })
  return { body: fields, files }
}
