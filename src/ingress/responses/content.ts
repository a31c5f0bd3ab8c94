import type { Annotation, CacheHint, MediaPart, Part, TextPart } from '../../canonical/content.ts'
import { kindOfMediaType, sourceOfUrl } from '../../canonical/media/data-url.ts'
import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import { anyNumber, anyText, defined, extrasOf, object, objects, required, text } from '../fields.ts'
import { FORMAT, KNOWN_PARTS } from './wire.ts'

/** Reads the parts of a message or a tool output. A string is a single text part. */
export function readContent(wire: Json | undefined): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return objects(wire)?.map(readPart) ?? []
}

/** Reads one part. A part of an unknown type becomes opaque, marked as a part rather than an item. */
export function readPart(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  const part = KNOWN_PARTS.has(type) ? PARTS[type]!(wire) : undefined
  const cache = readCache(wire)
  return part === undefined ? opaquePart(wire) : ({ ...part, ...cache } as Part)
}

/** Creates an opaque part that is marked as part of a message. */
export const opaquePart = (value: JsonObject): Part => ({
  type: 'opaque',
  format: FORMAT,
  value,
  spelling: { [FORMAT]: { in: 'message' } },
})

const CACHED = 'prompt_cache_breakpoint'
const KNOWN_FIELDS = {
  text: new Set(['type', 'text', CACHED]),
  output: new Set(['type', 'text', 'annotations', 'logprobs', CACHED]),
  refusal: new Set(['type', 'refusal', CACHED]),
  image: new Set(['type', 'image_url', 'detail', CACHED]),
  imageId: new Set(['type', 'file_id', 'detail', CACHED]),
}

const PARTS: { readonly [type: string]: (wire: JsonObject) => Part | undefined } = {
  input_text: readText,
  text: readText,
  // Log probabilities of an earlier answer are dropped, because upstreams send them but do not read them.
  output_text: wire => readOutputText(wire, KNOWN_FIELDS.output),
  refusal: wire => ({
    type: 'refusal',
    text: required(text(wire['refusal'])),
    ...extrasOf(FORMAT, wire, KNOWN_FIELDS.refusal),
  }),
  input_image: readImage,
  input_file: readFile,
}

function readText(wire: JsonObject): TextPart {
  return { type: 'text', text: required(text(wire['text'])), ...extrasOf(FORMAT, wire, KNOWN_FIELDS.text) }
}

/** Reads text that a model wrote, with its citations. */
export function readOutputText(wire: JsonObject, knownFields: ReadonlySet<string>): TextPart {
  const annotations = objects(wire['annotations'])
  return {
    type: 'text',
    text: required(text(wire['text'])),
    ...(annotations === undefined || annotations.length === 0 ? {} : { annotations: annotations.map(readAnnotation) }),
    ...extrasOf(FORMAT, wire, knownFields),
  }
}

const CITATION = new Set(['type', 'url', 'title', 'start_index', 'end_index'])

/** Reads a citation of a web page. A citation of a file becomes opaque. */
function readAnnotation(wire: JsonObject): Annotation {
  const { url, title, start_index, end_index } = wire
  const known =
    wire['type'] === 'url_citation' &&
    typeof url === 'string' &&
    isTextual(title) &&
    isCount(start_index) &&
    isCount(end_index)
  if (!known) return { type: 'opaque', format: FORMAT, value: wire }
  const citation = {
    type: 'citation',
    url,
    ...defined({ title: anyText(title), start: anyNumber(start_index), end: anyNumber(end_index) }),
    ...extrasOf(FORMAT, wire, CITATION),
  } as const
  return withWireSource<Annotation, JsonObject>(citation, FORMAT, wire)
}

const isTextual = (value: Json | undefined): boolean => value == null || typeof value === 'string'
const isCount = (value: Json | undefined): boolean => value == null || typeof value === 'number'

function readImage(wire: JsonObject): MediaPart | undefined {
  const url = text(wire['image_url'])
  const id = text(wire['file_id'])
  const detail = text(wire['detail'])
  if (url === undefined && id === undefined) return undefined
  return {
    type: 'media',
    kind: 'image',
    source: url === undefined ? { type: 'file-id', format: FORMAT, id: id! } : sourceOfUrl(url),
    ...defined({ detail }),
    ...extrasOf(FORMAT, wire, url === undefined ? KNOWN_FIELDS.imageId : KNOWN_FIELDS.image),
  }
}

/**
 * Reads a file given as bytes, URL or id. If several are given, the first in this order is read, and the others become
 * extras.
 */
function readFile(wire: JsonObject): MediaPart | undefined {
  const data = text(wire['file_data'])
  const url = text(wire['file_url'])
  const id = text(wire['file_id'])
  const name = text(wire['filename'])
  const detail = text(wire['detail'])
  const field = data !== undefined ? 'file_data' : url !== undefined ? 'file_url' : 'file_id'
  if (field === 'file_id' && id === undefined) return undefined
  const source =
    data !== undefined
      ? sourceOfData(data, name)
      : url !== undefined
        ? ({ type: 'url', url } as const)
        : ({ type: 'file-id', format: FORMAT, id: id! } as const)
  return {
    type: 'media',
    kind: kindOfMediaType(source.type === 'base64' ? source.mediaType : undefined),
    source,
    ...defined({ name, detail }),
    ...extrasOf(FORMAT, wire, new Set(['type', 'filename', 'detail', CACHED, field])),
  }
}

/** Reads a file's bytes from a `data:` URL, or from plain base64, which some clients send. */
function sourceOfData(data: string, name: string | undefined): MediaPart['source'] {
  if (data.startsWith('data:')) return sourceOfUrl(data)
  const mediaType = name?.toLowerCase().endsWith('.pdf') ? 'application/pdf' : 'application/octet-stream'
  return { type: 'base64', mediaType, data }
}

function readCache(wire: JsonObject): { cache?: CacheHint } {
  const hint = object(wire[CACHED])
  return hint === undefined ? {} : { cache: defined({ ttl: anyText(hint['ttl']) }) }
}
