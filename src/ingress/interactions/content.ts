import type {
  Annotation,
  MediaKind,
  MediaPart,
  MediaSource,
  OpaquePart,
  Part,
  TextPart,
} from '../../canonical/content.ts'
import { isGoogleFile } from '../../canonical/media/google-file.ts'
import { imageTypeOfBase64, sniffBase64 } from '../../canonical/media/sniff.ts'
import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import { Offsets } from '../../canonical/text.ts'
import { anyNumber, anyText, defined, extrasOf, objects, required, text } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Reads the contents of a turn or a tool result. A string is a single text. */
export function readContent(wire: Json | undefined): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return objects(wire)?.map(readPart) ?? []
}

const KINDS: { readonly [type: string]: MediaKind } = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  document: 'file',
}

/** Reads one content. A content of an unknown type, or without data, becomes opaque. */
export function readPart(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  if (type === 'text') return readText(wire)
  return (Object.hasOwn(KINDS, type) ? readMedia(wire, type) : undefined) ?? opaqueContent(wire)
}

/** Creates an opaque part that is marked as a content of a step rather than as a step. */
export const opaqueContent = (value: JsonObject): OpaquePart => ({
  type: 'opaque',
  format: FORMAT,
  value,
  spelling: { [FORMAT]: { in: 'content' } },
})

const TEXT = new Set(['type', 'text', 'annotations'])

function readText(wire: JsonObject): TextPart {
  const body = required(text(wire['text']))
  const annotations = objects(wire['annotations'])
  return {
    type: 'text',
    text: body,
    ...(annotations === undefined || annotations.length === 0
      ? {}
      : { annotations: readAnnotations(annotations, new Offsets(body)) }),
    ...extrasOf(FORMAT, wire, TEXT),
  }
}

const CITATION = new Set(['type', 'url', 'title', 'start_index', 'end_index'])

/** Reads the annotations of a text. Their offsets count bytes. Annotations that do not cite web pages become opaque. */
export function readAnnotations(wires: readonly JsonObject[], offsets: Offsets): readonly Annotation[] {
  return wires.map((wire): Annotation => {
    const { url, title, start_index, end_index } = wire
    const isCitation =
      wire['type'] === 'url_citation' &&
      typeof url === 'string' &&
      isText(title) &&
      isOffset(start_index) &&
      isOffset(end_index)
    if (!isCitation) return { type: 'opaque', format: FORMAT, value: wire }
    const citation = {
      type: 'citation',
      url,
      ...defined({ title: anyText(title), start: unit(offsets, start_index), end: unit(offsets, end_index) }),
      ...extrasOf(FORMAT, wire, CITATION),
    } as const
    return withWireSource<Annotation, JsonObject>(citation, FORMAT, wire)
  })
}

const isText = (value: Json | undefined): boolean => value == null || typeof value === 'string'
const isOffset = (value: Json | undefined): boolean => value == null || typeof value === 'number'

function unit(offsets: Offsets, value: Json | undefined): number | undefined {
  const byte = anyNumber(value)
  return byte === undefined ? undefined : offsets.unitAt(byte)
}

/** Resolutions that other formats also have. */
const DETAILS: ReadonlySet<string> = new Set(['low', 'high'])

const MEDIA = new Set(['type', 'data', 'mime_type', 'uri', 'resolution'])
const INLINE = new Set(['type', 'data', 'mime_type', 'resolution'])
const SAMPLES = new Set([...INLINE, 'sample_rate', 'rate', 'channels'])

/** Media kinds that the media type of a document may indicate. */
const INDICATED: ReadonlySet<string> = new Set(['image', 'audio', 'video'] satisfies MediaKind[])

/**
 * Returns the kind of media. The media type decides for documents, because some clients send any file as a document.
 */
function kindOf(type: string, mediaType: string | undefined): MediaKind {
  const mainType = mediaType?.split('/')[0]?.toLowerCase() ?? ''
  return KINDS[type] === 'file' && INDICATED.has(mainType) ? (mainType as MediaKind) : KINDS[type]!
}

/** Reads media: bytes, or else a URI. Returns undefined if both are missing. */
function readMedia(wire: JsonObject, type: string): MediaPart | undefined {
  const data = text(wire['data'])
  const uri = text(wire['uri'])
  const mediaType = text(wire['mime_type'])
  const resolution = text(wire['resolution'])
  if (data === undefined && uri === undefined) return undefined
  const kind = kindOf(type, data === undefined ? undefined : mediaType)
  const detail = resolution !== undefined && DETAILS.has(resolution) ? resolution : undefined
  const unreadFields = detail === undefined ? ['resolution'] : []
  const samples = data === undefined ? undefined : samplesType(wire)
  return {
    type: 'media',
    kind,
    source:
      data === undefined
        ? sourceOfUri(uri!, mediaType)
        : { type: 'base64', mediaType: samples ?? mediaType ?? typeOf(data, kind), data },
    ...defined({ detail }),
    ...extrasOf(FORMAT, wire, data === undefined ? MEDIA : samples === undefined ? INLINE : SAMPLES, unreadFields),
  }
}

/**
 * Returns the media type of raw samples, including the sample rate and channels, which this format has in separate
 * fields (docs/wire/interactions.md#contents), or undefined for other media, or if the rate is missing.
 */
function samplesType({ mime_type, sample_rate, rate = null, channels = null }: JsonObject): string | undefined {
  const samples = sample_rate ?? rate
  if (mime_type !== 'audio/l16' || !isCount(samples)) return undefined
  if (channels === null) return `audio/l16;rate=${samples}`
  return isCount(channels) ? `audio/l16;rate=${samples};channels=${channels}` : undefined
}

const isCount = (value: Json): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 20

/** Media types of bytes without a declared or detectable media type. */
const FALLBACK_TYPES: { readonly [K in MediaKind]: string } = {
  image: 'image/png',
  audio: 'audio/l16;rate=24000',
  video: 'video/mp4',
  file: 'application/pdf',
}

/** Returns the media type of bytes without a declared media type. */
export const typeOf = (data: string, kind: MediaKind): string =>
  kind === 'image' ? imageTypeOfBase64(data) : (sniffBase64(data) ?? FALLBACK_TYPES[kind])

/** Reads a URI. URIs of Google's files and storage become file ids, because only Google can read them. */
export const sourceOfUri = (uri: string, mediaType: string | undefined): MediaSource =>
  isGoogleFile(uri)
    ? { type: 'file-id', format: FORMAT, id: uri, ...defined({ mediaType }) }
    : { type: 'url', url: uri, ...defined({ mediaType }) }
