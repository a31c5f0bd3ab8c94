import type { MediaKind, MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { defined, extrasWithin, object, required, text } from '../fields.ts'
import { FORMAT } from './wire.ts'

const IMAGE = new Set(['type', 'source', 'cache_control'])
const DOCUMENT = new Set(['type', 'source', 'title', 'cache_control'])

/** A media source, and the wire fields that it was read from. */
interface ReadSource {
  readonly source: MediaSource
  readonly fields: ReadonlySet<string>
}

/** Readers by the type of source. */
const SOURCES: { readonly [type: string]: (wire: JsonObject) => ReadSource } = {
  base64: wire => ({
    source: { type: 'base64', mediaType: required(text(wire['media_type'])), data: required(text(wire['data'])) },
    fields: new Set(['type', 'media_type', 'data']),
  }),
  text: wire => ({
    source: { type: 'text', mediaType: required(text(wire['media_type'])), text: required(text(wire['data'])) },
    fields: new Set(['type', 'media_type', 'data']),
  }),
  url: wire => ({ source: { type: 'url', url: required(text(wire['url'])) }, fields: new Set(['type', 'url']) }),
  file: wire => ({
    source: { type: 'file-id', format: FORMAT, id: required(text(wire['file_id'])) },
    fields: new Set(['type', 'file_id']),
  }),
}

/** Reads an image. An image with an unknown source becomes opaque. */
export function readImage(wire: JsonObject): Part {
  const source = required(object(wire['source']))
  const sourced = readSource(source)
  if (sourced === undefined || sourced.source.type === 'text') return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'media',
    kind: kindOf(sourced.source, 'image'),
    source: sourced.source,
    ...extrasWithin(FORMAT, wire, 'source', source, sourced.fields, IMAGE),
  }
}

/** Reads a document. A document made of blocks becomes opaque, with its text for formats that cannot read it. */
export function readDocument(wire: JsonObject): Part {
  const source = required(object(wire['source']))
  const name = text(wire['title'])
  const sourced = readSource(source)
  if (sourced === undefined)
    return {
      type: 'opaque',
      format: FORMAT,
      value: wire,
      ...textIn({ title: name ?? null, content: source['content'] ?? null }),
    }
  return {
    type: 'media',
    kind: kindOf(sourced.source, 'file'),
    source: sourced.source,
    ...defined({ name }),
    ...extrasWithin(FORMAT, wire, 'source', source, sourced.fields, DOCUMENT),
  }
}

/** Returns the kind of media. For bytes, the media type decides; otherwise the block's type does. */
const kindOf = (source: MediaSource, declaredKind: MediaKind): MediaKind =>
  source.type === 'base64' ? kindOfMediaType(source.mediaType) : declaredKind

function readSource(wire: JsonObject): ReadSource | undefined {
  const type = required(text(wire['type']))
  return Object.hasOwn(SOURCES, type) ? SOURCES[type]!(wire) : undefined
}

/** Returns the text of a document made of blocks, or of a search result: title, source and text blocks. */
export function textIn(wire: JsonObject): Pick<OpaquePart, 'text'> {
  const texts = [wire['title'], wire['source'], ...textsOf(wire['content'])].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
  return texts.length === 0 ? {} : { text: texts.join('\n\n') }
}

function textsOf(content: Json | undefined): readonly (Json | undefined)[] {
  if (!Array.isArray(content)) return [content]
  return content.map(block => (isObject(block) ? block['text'] : undefined))
}
