import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Modality, Output, TextShape } from '../../canonical/request.ts'
import { definedIfAny, list, text, texts, WrongType, withDefined } from '../fields.ts'
import { readSize } from './settings.ts'

/** Output settings in `generation_config`. */
interface ConfiguredOutput {
  readonly voice: string | undefined
  readonly image: string | undefined
}

/** Output settings in `response_format`. `image` and `audio` are media types. A missing field was not requested. */
interface FormattedOutput {
  text?: TextShape
  size?: string
  image?: string
  audio?: string
  /** Modalities of the entries, in order. */
  readonly modalities: Modality[]
}

const NO_OUTPUT: FormattedOutput = { modalities: [] }

/**
 * Reads the modalities and the shape of the answer (docs/wire/interactions.md#response-format). Fields that the
 * canonical model cannot express are added to `unreadFields`.
 */
export function readOutput(body: JsonObject, { voice, image }: ConfiguredOutput, unreadFields: string[]): Output {
  const value = body['response_format'] ?? undefined
  const mime = text(body['response_mime_type'])
  const formatted = readFormat(value, mime, unreadFields)
  const size = formatted.size ?? image
  const requestedModalities = readModalities(body, unreadFields)
  const entryModalities = formatted.modalities.some(modality => modality !== 'text') ? formatted.modalities : undefined
  return withDefined({} as Output, {
    modalities: requestedModalities ?? entryModalities,
    text: formatted.text,
    image: definedIfAny({ size, mediaType: formatted.image }),
    audio: definedIfAny({ voice, mediaType: formatted.audio }),
  })
}

const MODALITIES: ReadonlySet<string> = new Set(['text', 'image', 'audio'])

/** Reads `response_modalities`. A list with a modality that other formats lack becomes an extra. */
function readModalities(body: JsonObject, unreadFields: string[]): readonly Modality[] | undefined {
  const value = texts(body['response_modalities'])
  if (value === undefined) return undefined
  if (value.length > 0 && value.every(one => MODALITIES.has(one))) return value as readonly Modality[]
  unreadFields.push('response_modalities')
  return undefined
}

const JSON_TYPE = 'application/json'

/** Reads `response_format`: an entry, a list of entries, or a schema if `response_mime_type` is set. */
function readFormat(value: Json | undefined, mime: string | undefined, unreadFields: string[]): FormattedOutput {
  const entries = isObject(value) ? [value] : (list(value) ?? [])
  if (!entries.every(isObject)) throw WrongType.instance
  if (mime === undefined) {
    const { formatted, isWhole } = value === undefined ? NO_ENTRIES : readEntries(entries)
    if (!isWhole) unreadFields.push('response_format')
    return formatted
  }
  const shape = shapeOf(mime, value)
  if (shape === undefined) unreadFields.push('response_format', 'response_mime_type')
  return shape === undefined ? NO_OUTPUT : { text: shape, modalities: [] }
}

/** Reads the answer shape from a media type and a schema. Returns undefined for any other media type. */
function shapeOf(mime: string, schema: Json | undefined): TextShape | undefined {
  if (mime === 'text/plain' && schema === undefined) return { shape: 'text' }
  if (mime !== JSON_TYPE) return undefined
  if (schema === undefined) return { shape: 'json' }
  return isObject(schema) && !isEntry(schema) ? { shape: 'schema', schema } : undefined
}

/** Returns true for an entry of `response_format`, false for a schema. */
const isEntry = ({ type }: JsonObject): boolean => typeof type === 'string' && Object.hasOwn(ENTRIES, type)

/** Readers of entries by type. They return false for an entry with unknown values. */
const ENTRIES: { readonly [type: string]: (entry: JsonObject, out: FormattedOutput) => boolean } = {
  text: ({ type: _, mime_type: mime, schema, ...others }, out) => {
    const shape = typeof mime === 'string' ? shapeOf(mime, schema ?? undefined) : undefined
    const isPlain = mime == null && schema == null
    if (shape !== undefined) out.text = shape
    return Object.keys(others).length === 0 && (shape !== undefined || isPlain)
  },
  image: ({ type: _, aspect_ratio, image_size, mime_type: mime, ...others }, out) => {
    const size = readSize(aspect_ratio, image_size)
    if (size !== undefined) out.size = size
    if (mime === IMAGE_TYPE) out.image = IMAGE_TYPE
    const isRead = (size !== undefined || (aspect_ratio ?? image_size) == null) && (mime == null || mime === IMAGE_TYPE)
    return isRead && Object.keys(others).length === 0
  },
  audio: ({ type: _, mime_type: mime, ...others }, out) => {
    const container = typeof mime === 'string' ? rowOf(CONTAINERS, mime) : undefined
    if (container !== undefined) out.audio = container
    return Object.keys(others).length === 0 && (mime == null || container !== undefined)
  },
}

/** The only media type that can be requested for images. */
const IMAGE_TYPE = 'image/jpeg'

/** Media types of audio by the format's names. */
const CONTAINERS: { readonly [name: string]: string } = {
  'audio/l16': 'audio/pcm',
  'audio/wav': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/ogg_opus': 'audio/opus',
}

interface Entries {
  readonly formatted: FormattedOutput
  /** True if `formatted` expresses everything in the entries. */
  readonly isWhole: boolean
}

const NO_ENTRIES: Entries = { formatted: NO_OUTPUT, isWhole: true }
const UNREADABLE_ENTRIES: Entries = { formatted: NO_OUTPUT, isWhole: false }

/** Reads entries of different types. A list with a repeated or unknown type is refused. */
function readEntries(entries: readonly JsonObject[]): Entries {
  const out: FormattedOutput = { modalities: [] }
  let isWhole = entries.length > 0
  for (const entry of entries) {
    const type = entry['type']
    if (!isEntry(entry) || out.modalities.includes(type as Modality)) return UNREADABLE_ENTRIES
    out.modalities.push(type as Modality)
    isWhole = ENTRIES[type as string]!(entry, out) && isWhole
  }
  return { formatted: out, isWhole }
}
