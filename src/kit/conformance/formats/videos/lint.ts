import type { FormFile, Headers, RawAnswer, RequestOnWire } from '../../format.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { containerOf, typeFault } from '../../media/containers.ts'
import { type Violation, Violations } from '../../rules.ts'
import { actionOf, videoIn } from './action.ts'

/* Rules for requests and whole answers that the published schema cannot express. */

/**
 * Fields of a form. Source: the description of CreateVideoMultipartBody. OpenAI's SDK writes objects as `name[key]`.
 */
const FIELDS = new Set(['model', 'prompt', 'input_reference', 'seconds', 'size'])

export function requestLint(
  body: JsonObject,
  _headers: Headers,
  _path: string,
  files?: readonly FormFile[],
): readonly Violation[] {
  const violations = new Violations()
  if (files === undefined) return violations.list
  if (!textOf(body['prompt'])) violations.add('form-prompt', 'The form has no prompt.')
  for (const name of [...Object.keys(body), ...files.map(({ field }) => field)])
    if (!FIELDS.has(name.replace(/\[.*/s, ''))) violations.add('form-fields', `The form has a field ${name}.`)
  for (const { field, type, bytes } of files) {
    const fault = typeFault(type, bytes)
    if (fault !== undefined) violations.add('file-type', `${field}: ${fault}`)
  }
  return violations.list
}

function videoFaults(body: JsonObject, request: RequestOnWire, violations: Violations): void {
  const id = textOf(body['id'])
  const action = actionOf(request.method, request.path)
  const requestedId = videoIn(request.path)
  if (!id) violations.add('id', `The id is ${JSON.stringify(body['id'])}.`)
  else if (action === 'remix') {
    if (id === requestedId) violations.add('id', `The remix has the id of the original, ${id}.`)
    const original = body['remixed_from_video_id']
    if (original !== requestedId)
      violations.add('remix-of', `${requestedId} was remixed, but the answer names ${String(original)}.`)
  } else if (action !== 'create' && id !== requestedId)
    violations.add('id', `${requestedId} was requested, but ${id} was returned.`)
  if (action === 'delete') return
  const { status, error } = body
  if (status === 'failed' && !textOf(objectOf(error)['message']))
    violations.add('error-fits', 'A failed video has no error with a message.')
  if (status !== 'failed' && isObject(error))
    violations.add('error-fits', `A video with the status ${String(status)} has an error.`)
}

function listFaults({ data, first_id: first, last_id: last }: JsonObject, violations: Violations): void {
  const ids = listOf(data).map(one => textOf(objectOf(one)['id']) ?? '')
  if ((ids[0] ?? null) !== first || (ids.at(-1) ?? null) !== last)
    violations.add(
      'list-ends',
      `The ids are [${ids.join(', ')}], but first_id is ${String(first)} and last_id is ${String(last)}.`,
    )
  if (new Set(ids).size < ids.length || ids.includes('')) violations.add('id', `The ids are [${ids.join(', ')}].`)
}

/** Allowed file formats, by variant of a video. */
const VARIANTS: { readonly [variant: string]: readonly string[] } = {
  video: ['mp4', 'webm'],
  thumbnail: ['webp', 'jpeg', 'png'],
  spritesheet: ['jpeg', 'webp', 'png'],
}

function fileFaults({ bytes }: RawAnswer, path: string, violations: Violations): void {
  const variant = new URLSearchParams(path.split('?')[1]).get('variant') ?? 'video'
  const found = containerOf(bytes) ?? 'no known file format'
  if (!VARIANTS[variant]?.includes(found)) violations.add('file', `The ${variant} begins like ${found}.`)
}

export function answerLint(
  body: JsonObject,
  _headers: Headers,
  request: RequestOnWire,
  raw?: RawAnswer,
): readonly Violation[] {
  const violations = new Violations()
  if (raw !== undefined) fileFaults(raw, request.path, violations)
  else if (actionOf(request.method, request.path) === 'list') listFaults(body, violations)
  else videoFaults(body, request, violations)
  return violations.list
}
