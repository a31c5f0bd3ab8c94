import type { MediaPart, OpaquePart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject, type Node, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { percentDecoded } from '../../canonical/text.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, required, text, WrongType } from '../fields.ts'
import { readFile } from '../media/file-type.ts'
import { locateVideo, readLength, videoRequest } from '../media/video.ts'
import { REMIX, requestAt } from './wire.ts'

export const FORMAT = 'videos'

/**
 * Reads the body of `POST /v1/videos` or `POST /v1/videos/{id}/remix` (docs/wire/videos.md#openai), as JSON or as a
 * form. A remix names no model, because it uses the model of the task that it changes.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readOrExplain(requestAt(wire), wire.body, () => readBody(wire))

const REFERENCE_FIELD = 'input_reference'
const REFERENCE_FIELDS = ['image_url', 'file_id'] as const

/** Form fields for the fields of an object, as spelled by OpenAI's libraries. */
const BRACKETED_FIELDS = REFERENCE_FIELDS.map(word => [`${REFERENCE_FIELD}[${word}]`, word] as const)

/**
 * Known fields of a remix. A remix uses the model of the original task, so a model in the body is neither checked nor
 * sent.
 */
const REMIX_TAKEN = new Set(['prompt', 'seconds', 'size', REFERENCE_FIELD, ...BRACKETED_FIELDS.map(([field]) => field)])
const KNOWN_FIELDS = new Set([...REMIX_TAKEN, 'model'])

function readBody(wire: WireRequest): CanonicalRequest {
  const { path, body, files, unfinished } = wire
  const remixOf = REMIX.exec(path)?.[1]
  const prompt = text(body['prompt'])
  if (prompt === '' || (prompt === undefined && unfinished !== true)) throw WrongType.instance
  const model = remixOf === undefined ? required(text(body['model'])) : ''
  const images = [...readReferencedImages(body), ...readFiles(files ?? [])]
  const seconds = readLength(body['seconds'])
  const original = remixOf === undefined ? undefined : percentDecoded(remixOf)
  const video = defined({ seconds, size: text(body['size']), remixOf: original })
  const knownFields = remixOf === undefined ? KNOWN_FIELDS : REMIX_TAKEN
  const request = {
    ...videoRequest(model, prompt, images, video),
    ...extrasOf(FORMAT, body, knownFields, seconds === undefined ? ['seconds'] : []),
  }
  return withWireSource(request, FORMAT, wire)
}

/** Reads the images that a body refers to. */
const readReferencedImages = (body: JsonObject): readonly (MediaPart | OpaquePart)[] => [
  ...(body[REFERENCE_FIELD] == null ? [] : [readReference(body[REFERENCE_FIELD])]),
  ...BRACKETED_FIELDS.flatMap(([field, word]) => {
    const value = text(body[field])
    return value === undefined ? [] : [imagePart(word, value)]
  }),
]

function readReference(wire: Json): MediaPart | OpaquePart {
  if (typeof wire === 'string') return imagePart('image_url', wire)
  if (!isObject(wire)) throw WrongType.instance
  const as = REFERENCE_FIELDS.find(word => typeof wire[word] === 'string')
  if (as === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  return imagePart(as, wire[as] as string, extrasOf(FORMAT, wire, new Set([as])))
}

const imagePart = (word: (typeof REFERENCE_FIELDS)[number], value: string, node: Node = {}): MediaPart => ({
  type: 'media',
  kind: 'image',
  source: word === 'file_id' ? { type: 'file-id', format: FORMAT, id: value } : sourceOfUrl(value),
  ...node,
})

/** Reads the files of a form. A file in a field with another name also counts as an image. */
const readFiles = (files: readonly WireFile[]): readonly MediaPart[] =>
  files.map(file => ({
    ...readFile(file, ['image', 'video']),
    ...(file.field === REFERENCE_FIELD ? {} : { extras: { [FORMAT]: { field: file.field } } }),
  }))

/** Locates the prompt and the image in the body. */
export const locate = locateVideo(part => String(part.extras?.[FORMAT]?.['field'] ?? REFERENCE_FIELD))

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/video/seconds': ['seconds'],
  'output/video/size': ['size'],
  'output/video': ['prompt'],
  'output/modalities': ['prompt'],
}
