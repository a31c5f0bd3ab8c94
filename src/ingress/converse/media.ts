import type { MediaKind, MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type ConverseMedia, mediaTypeOf } from '../../formats/settings/converse.ts'
import { defined, extrasOf, object, required, text } from '../fields.ts'
import { FORMAT, kindOf } from './wire.ts'

const KINDS: { readonly [K in ConverseMedia]: MediaKind } = {
  image: 'image',
  document: 'file',
  video: 'video',
  audio: 'audio',
}

/** Media type of a file without a format. */
const UNKNOWN_TYPE = 'application/octet-stream'

/** Readers by kind of source. Files in S3 are identified by a URI that only upstreams of this format can read. */
const SOURCES: { readonly [kind: string]: (wire: Json, mediaType: string) => MediaSource } = {
  bytes: (wire, mediaType) => ({ type: 'base64', mediaType, data: required(text(wire)) }),
  text: (wire, mediaType) => ({ type: 'text', mediaType, text: required(text(wire)) }),
  s3Location: (wire, mediaType) => {
    const id = required(text(required(object(wire))['uri']))
    return { type: 'file-id', format: FORMAT, id, mediaType }
  },
}

const MEDIA = new Set(['format', 'source', 'name'])
const MEDIA_FIELDS = new Set(['format', 'source'])
const LOCATION = new Set(['uri'])

/**
 * Reads an image, document, video or recording. Media with an unknown source, such as a document made of blocks,
 * becomes opaque.
 */
export function readMedia(block: JsonObject, kind: ConverseMedia): Part {
  const wire = required(object(block[kind]))
  const format = text(wire['format'])
  const source = required(object(wire['source']))
  const name = kind === 'document' ? text(wire['name']) : undefined
  const sourceKind = kindOf(source, SOURCES)
  if (sourceKind === undefined) return { type: 'opaque', format: FORMAT, value: block, ...textsIn(wire) }
  const mediaType = format === undefined ? UNKNOWN_TYPE : mediaTypeOf(kind, format)
  const { extras } = extrasOf(FORMAT, wire, kind === 'document' ? MEDIA : MEDIA_FIELDS)
  const location = source['s3Location']
  const inside = isObject(location) ? extrasOf(FORMAT, location, LOCATION).extras?.[FORMAT] : undefined
  const others = { ...extras?.[FORMAT], ...(inside === undefined ? {} : { s3Location: inside }) }
  return {
    type: 'media',
    kind: KINDS[kind],
    source: SOURCES[sourceKind]!(source[sourceKind]!, mediaType),
    ...defined({ name }),
    ...(Object.keys(others).length === 0 ? {} : { extras: { [FORMAT]: others } }),
  }
}

/** Returns the text of a document made of blocks, or of a search result: the title and the text blocks. */
export function textsIn(wire: JsonObject): Pick<OpaquePart, 'text'> {
  const { source } = wire
  const content = isObject(source) ? source['content'] : wire['content']
  const blocks = Array.isArray(content) ? content.map(one => (isObject(one) ? one['text'] : undefined)) : []
  const texts = [wire['title'] ?? wire['name'], typeof source === 'string' ? source : undefined, ...blocks].filter(
    one => typeof one === 'string' && one !== '',
  )
  return texts.length === 0 ? {} : { text: texts.join('\n\n') }
}
