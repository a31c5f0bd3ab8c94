import type { MediaPart, OpaquePart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined, rest, text, WrongType } from '../fields.ts'

export const FORMAT = 'videos'

const FIELD = 'input_reference'
const WORDS = ['image_url', 'file_id'] as const

/** Fields of a form for an object's fields, as the OpenAI libraries spell them. */
const IN_BRACKETS = WORDS.map(word => [`${FIELD}[${word}]`, word] as const)

/** The fields of a body that name pictures. */
export const FIELDS: readonly string[] = [FIELD, ...IN_BRACKETS.map(([field]) => field)]

/** The pictures a body names, each with the way it was named. */
export const readNamed = (body: JsonObject): readonly (MediaPart | OpaquePart)[] => [
  ...(body[FIELD] == null ? [] : [readReference(body[FIELD])]),
  ...IN_BRACKETS.flatMap(([field, word]) => {
    const value = text(body[field])
    return value === undefined ? [] : [picture(word, value, { [FORMAT]: { field } })]
  }),
]

function readReference(wire: Json): MediaPart | OpaquePart {
  if (typeof wire === 'string') return picture('image_url', wire, { [FORMAT]: { as: 'text' } })
  if (!isObject(wire)) throw WrongType.instance
  const as = WORDS.find(word => typeof wire[word] === 'string')
  if (as === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  return { ...picture(as, wire[as] as string), ...rest(FORMAT, wire, new Set([as]), { as }) }
}

const picture = (word: (typeof WORDS)[number], value: string, spelling?: MediaPart['spelling']): MediaPart => ({
  type: 'media',
  kind: 'image',
  source: word === 'file_id' ? { type: 'file-id', format: FORMAT, id: value } : sourceOfUrl(value),
  ...defined({ spelling }),
})

/** The pictures of a form; one in a field of another name is a picture all the same. */
export const readFiles = (files: readonly WireFile[]): readonly MediaPart[] =>
  files.map(({ field, name, mediaType, bytes }) => ({
    type: 'media',
    kind: mediaType.startsWith('video/') ? 'video' : 'image',
    source: { type: 'bytes', mediaType, bytes },
    ...defined({ name }),
    ...(field === FIELD ? {} : { extras: { [FORMAT]: { field } } }),
  }))
