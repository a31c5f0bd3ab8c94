import type { MediaKind, MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { defined, nested, object, required, text } from '../fields.ts'

const FORMAT = 'messages'

const IMAGE = new Set(['type', 'source', 'cache_control'])
const DOCUMENT = new Set(['type', 'source', 'title', 'cache_control'])

interface Sourced {
  readonly source: MediaSource
  readonly taken: ReadonlySet<string>
}

const SOURCES: { readonly [type: string]: (wire: JsonObject) => Sourced } = {
  base64: wire => ({
    source: { type: 'base64', mediaType: required(text(wire['media_type'])), data: required(text(wire['data'])) },
    taken: new Set(['type', 'media_type', 'data']),
  }),
  text: wire => ({
    source: { type: 'text', mediaType: required(text(wire['media_type'])), text: required(text(wire['data'])) },
    taken: new Set(['type', 'media_type', 'data']),
  }),
  url: wire => ({ source: { type: 'url', url: required(text(wire['url'])) }, taken: new Set(['type', 'url']) }),
  file: wire => ({
    source: { type: 'file-id', format: FORMAT, id: required(text(wire['file_id'])) },
    taken: new Set(['type', 'file_id']),
  }),
}

/** An image; from a source nobody else knows it stays as it is. */
export function readImage(wire: JsonObject): Part {
  const inside = required(object(wire['source']))
  const sourced = readSource(inside)
  if (sourced === undefined || sourced.source.type === 'text') return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'media',
    kind: kindOf(sourced.source, 'image'),
    source: sourced.source,
    ...nested(FORMAT, wire, 'source', inside, sourced.taken, IMAGE, { as: 'image' }),
  }
}

/** A document; one made of blocks stays as it is, in words for whoever cannot read it. */
export function readDocument(wire: JsonObject): Part {
  const inside = required(object(wire['source']))
  const name = text(wire['title'])
  const sourced = readSource(inside)
  if (sourced === undefined)
    return {
      type: 'opaque',
      format: FORMAT,
      value: wire,
      ...wordsOf({ title: name ?? null, content: inside['content'] ?? null }),
    }
  return {
    type: 'media',
    kind: kindOf(sourced.source, 'file'),
    source: sourced.source,
    ...defined({ name }),
    ...nested(FORMAT, wire, 'source', inside, sourced.taken, DOCUMENT, { as: 'document' }),
  }
}

/** Bytes are what their type says; anything else is what the block says. */
const kindOf = (source: MediaSource, said: MediaKind): MediaKind =>
  source.type === 'base64' ? kindOfMediaType(source.mediaType) : said

function readSource(wire: JsonObject): Sourced | undefined {
  const type = required(text(wire['type']))
  return Object.hasOwn(SOURCES, type) ? SOURCES[type]!(wire) : undefined
}

/** A document of blocks, or a search result, in plain words: title, source and texts. */
export function wordsOf(wire: JsonObject): Pick<OpaquePart, 'text'> {
  const words = [wire['title'], wire['source'], ...textsOf(wire['content'])].filter(
    (word): word is string => typeof word === 'string' && word !== '',
  )
  return words.length === 0 ? {} : { text: words.join('\n\n') }
}

function textsOf(content: Json | undefined): readonly (Json | undefined)[] {
  if (!Array.isArray(content)) return [content]
  return content.map(block => (isObject(block) ? block['text'] : undefined))
}
