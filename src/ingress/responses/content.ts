import type { Annotation, CacheHint, MediaPart, Part, TextPart } from '../../canonical/content.ts'
import { kindOfMediaType, sourceOfUrl } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyText, defined, object, objects, required, rest, spelling, text } from '../fields.ts'
import { KNOWN_PARTS } from './wire.ts'

const FORMAT = 'responses'

/** The default text type of a turn's parts. */
export type TextType = 'input_text' | 'output_text'

/** The parts of a message or of a tool's output; a string is one text. */
export function readContent(wire: Json | undefined, plain: TextType): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return objects(wire)?.map(part => readPart(part, plain)) ?? []
}

/** One part; a part of an unknown type is kept, marked as a part rather than an item. */
export function readPart(wire: JsonObject, plain: TextType): Part {
  const type = required(text(wire['type']))
  const part = KNOWN_PARTS.has(type) ? PARTS[type]!(wire, plain) : undefined
  const cache = readCache(wire)
  return part === undefined ? unknownPart(wire) : ({ ...part, ...cache } as Part)
}

export const unknownPart = (value: JsonObject): Part => ({
  type: 'opaque',
  format: FORMAT,
  value,
  spelling: { [FORMAT]: { in: 'message' } },
})

const CACHED = 'prompt_cache_breakpoint'
const TAKEN = {
  text: new Set(['type', 'text', CACHED]),
  output: new Set(['type', 'text', 'annotations', 'logprobs', CACHED]),
  refusal: new Set(['type', 'refusal', CACHED]),
  image: new Set(['type', 'image_url', 'detail', CACHED]),
  imageId: new Set(['type', 'file_id', 'detail', CACHED]),
}

const PARTS: { readonly [type: string]: (wire: JsonObject, plain: TextType) => Part | undefined } = {
  input_text: readText,
  text: readText,
  // Logprobs of an earlier answer: upstreams send them and never read them.
  output_text: (wire, plain) => readOutputText(wire, plain, TAKEN.output, { echoed: wire['logprobs'] ?? undefined }),
  refusal: wire => ({ type: 'refusal', text: required(text(wire['refusal'])), ...rest(FORMAT, wire, TAKEN.refusal) }),
  input_image: readImage,
  input_file: readFile,
}

function readText(wire: JsonObject, plain: TextType): TextPart {
  const type = wire['type'] === plain ? undefined : wire['type']
  return { type: 'text', text: required(text(wire['text'])), ...rest(FORMAT, wire, TAKEN.text, spelling({ type })) }
}

/** Text a model wrote, with its citations; `spelt` is spelling added by the reader of an answer. */
export function readOutputText(
  wire: JsonObject,
  plain: TextType,
  taken: ReadonlySet<string>,
  spelt?: { readonly [mark: string]: Json | undefined },
): TextPart {
  const cited = objects(wire['annotations'])
  const marks = spelling({
    ...spelt,
    type: wire['type'] === plain ? undefined : wire['type'],
    annotations: wire['annotations'] === undefined ? 'absent' : undefined,
  })
  return {
    type: 'text',
    text: required(text(wire['text'])),
    ...(cited === undefined || cited.length === 0 ? {} : { annotations: cited.map(readAnnotation) }),
    ...rest(FORMAT, wire, taken, marks),
  }
}

const CITATION = new Set(['type', 'url', 'title', 'start_index', 'end_index'])

/** A citation of a page; one of a file stays opaque. */
export function readAnnotation(wire: JsonObject): Annotation {
  const { url, title, start_index, end_index } = wire
  const known =
    wire['type'] === 'url_citation' &&
    typeof url === 'string' &&
    isTextual(title) &&
    isCount(start_index) &&
    isCount(end_index)
  if (!known) return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'citation',
    url,
    ...defined({ title: anyText(title), start: anyNumber(start_index), end: anyNumber(end_index) }),
    ...rest(FORMAT, wire, CITATION, { own: true }),
  }
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
    ...rest(FORMAT, wire, url === undefined ? TAKEN.imageId : TAKEN.image),
  }
}

/** A file's bytes, its address or its id; of several the first counts, and the others stay in extras. */
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
  const bare = data !== undefined && !data.startsWith('data:') ? true : undefined
  return {
    type: 'media',
    kind: kindOfMediaType(source.type === 'base64' ? source.mediaType : undefined),
    source,
    ...defined({ name, detail }),
    ...rest(FORMAT, wire, new Set(['type', 'filename', 'detail', CACHED, field]), spelling({ as: field, bare })),
  }
}

/** Bytes come as a `data:` URL; some clients send the base64 alone. */
function sourceOfData(data: string, name: string | undefined): MediaPart['source'] {
  if (data.startsWith('data:')) return sourceOfUrl(data)
  const mediaType = name?.toLowerCase().endsWith('.pdf') ? 'application/pdf' : 'application/octet-stream'
  return { type: 'base64', mediaType, data }
}

function readCache(wire: JsonObject): { cache?: CacheHint } {
  const hint = object(wire[CACHED])
  if (hint === undefined) return {}
  return { cache: { ...defined({ ttl: anyText(hint['ttl']) }), spelling: { [FORMAT]: { hint } } } }
}
