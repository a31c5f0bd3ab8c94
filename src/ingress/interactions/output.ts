import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Modality, Output, TextShape } from '../../canonical/request.ts'
import { definedIfAny, list, text, texts, WrongType, withDefined } from '../fields.ts'
import { readSize } from './settings.ts'

/** Output settings in `generation_config`. */
interface Configured {
  readonly voice: string | undefined
  readonly image: string | undefined
}

/** Output settings in `response_format`. `image` and `audio` are media types. A missing field was not requested. */
interface Formatted {
  text?: TextShape
  size?: string
  image?: string
  audio?: string
  /** Modalities of the entries, in order. */
  readonly modalities: Modality[]
}

const NONE: Formatted = { modalities: [] }

/**
 * Reads the modalities and the shape of the answer (docs/wire/interactions.md#response-format). Fields that the
 * canonical model cannot express are added to `refused`.
 */
export function readOutput(body: JsonObject, { voice, image }: Configured, refused: string[]): Output {
  const given = body['response_format'] ?? undefined
  const mime = text(body['response_mime_type'])
  const formatted = readFormat(given, mime, refused)
  const size = formatted.size ?? image
  const wanted = readModalities(body, refused)
  const implied = formatted.modalities.some(modality => modality !== 'text') ? formatted.modalities : undefined
  return withDefined({} as Output, {
    modalities: wanted ?? implied,
    text: formatted.text,
    image: definedIfAny({ size, mediaType: formatted.image }),
    audio: definedIfAny({ voice, mediaType: formatted.audio }),
  })
}

const MODALITIES: ReadonlySet<string> = new Set(['text', 'image', 'audio'])

/** Reads `response_modalities`. A list with a modality that other formats lack becomes an extra. */
function readModalities(body: JsonObject, refused: string[]): readonly Modality[] | undefined {
  const given = texts(body['response_modalities'])
  if (given === undefined) return undefined
  if (given.length > 0 && given.every(one => MODALITIES.has(one))) return given as readonly Modality[]
  refused.push('response_modalities')
  return undefined
}

const JSON_TYPE = 'application/json'

/** Reads `response_format`: an entry, a list of entries, or a schema if `response_mime_type` is set. */
function readFormat(given: Json | undefined, mime: string | undefined, refused: string[]): Formatted {
  const entries = isObject(given) ? [given] : (list(given) ?? [])
  if (!entries.every(isObject)) throw WrongType.instance
  if (mime === undefined) {
    const { formatted, isWhole } = given === undefined ? NOTHING : readEntries(entries)
    if (!isWhole) refused.push('response_format')
    return formatted
  }
  const shape = shapeOf(mime, given)
  if (shape === undefined) refused.push('response_format', 'response_mime_type')
  return shape === undefined ? NONE : { text: shape, modalities: [] }
}

/** Reads the answer shape from a media type and a schema. Undefined for any other media type. */
function shapeOf(mime: string, schema: Json | undefined): TextShape | undefined {
  if (mime === 'text/plain' && schema === undefined) return { shape: 'text' }
  if (mime !== JSON_TYPE) return undefined
  if (schema === undefined) return { shape: 'json' }
  return isObject(schema) && !isEntry(schema) ? { shape: 'schema', schema } : undefined
}

/** Returns true for an entry of `response_format`, false for a schema. */
const isEntry = ({ type }: JsonObject): boolean => typeof type === 'string' && Object.hasOwn(ENTRIES, type)

/** Readers of entries by type. They return false for an entry with unknown values. */
const ENTRIES: { readonly [type: string]: (entry: JsonObject, out: Formatted) => boolean } = {
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
    const container = typeof mime === 'string' && Object.hasOwn(CONTAINERS, mime) ? CONTAINERS[mime]! : undefined
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
  readonly formatted: Formatted
  /** True if `formatted` represents the entries completely. */
  readonly isWhole: boolean
}

const NOTHING: Entries = { formatted: NONE, isWhole: true }
const REFUSED: Entries = { formatted: NONE, isWhole: false }

/** Reads entries of different types. A list with a repeated or unknown type is refused. */
function readEntries(entries: readonly JsonObject[]): Entries {
  const out: Formatted = { modalities: [] }
  let isWhole = entries.length > 0
  for (const entry of entries) {
    const type = entry['type']
    if (!isEntry(entry) || out.modalities.includes(type as Modality)) return REFUSED
    out.modalities.push(type as Modality)
    isWhole = ENTRIES[type as string]!(entry, out) && isWhole
  }
  return { formatted: out, isWhole }
}
