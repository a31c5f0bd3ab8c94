import type { MediaPart, Part } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { rest, text, WrongType } from '../fields.ts'

const FORMAT = 'rerank'

/** The fields of documents that are ranked by, with their order. */
export type Fields = ReadonlyMap<string, number>

/** The named fields, or the usual one. */
export const fieldsOf = (named: readonly string[] = ['text']): Fields =>
  new Map([...new Set(named)].map((field, place) => [field, place]))

const USUAL = fieldsOf()

/**
 * A document as parts: a text for each ranked field, in their order, and its image. Other fields have no effect on the
 * ranking, so they are spelling, and stay with the first part.
 */
export function readDocument(wire: Json, fields = USUAL): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  if (!isObject(wire)) throw WrongType.instance
  text(wire['text'])
  const picture = text(wire['image'])
  const named = Object.keys(wire)
    .filter(field => fields.has(field) && typeof wire[field] === 'string')
    .sort((a, b) => fields.get(a)! - fields.get(b)!)
  const shown = picture !== undefined && !named.includes('image')
  const remaining = rest(FORMAT, wire, new Set(shown ? [...named, 'image'] : named))
  const parts = [
    ...named.map((field): Part => ({ type: 'text', text: wire[field] as string, ...mark({ field }) })),
    ...(shown ? [readImage(picture)] : []),
  ]
  const [first = { type: 'text', text: '', ...mark({ empty: true }) } as Part, ...others] = parts
  const spelling = {
    ...first.spelling?.[FORMAT],
    ...remaining.spelling?.[FORMAT],
    ...(remaining.extras === undefined ? {} : { more: remaining.extras[FORMAT]! }),
  }
  return [{ ...first, spelling: { [FORMAT]: spelling } }, ...others]
}

const mark = (spelt: JsonObject) => ({ spelling: { [FORMAT]: spelt } })

/** An address, or the bare base64 of an image whose type is found in its bytes. */
function readImage(value: string): MediaPart {
  if (/^[a-z][a-z0-9+.-]*:/i.test(value))
    return { type: 'media', kind: 'image', source: sourceOfUrl(value), ...mark({ field: 'image' }) }
  const mediaType = sniffed(Buffer.from(value.slice(0, 64), 'base64')) ?? 'image/jpeg'
  return {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mediaType, data: value },
    ...mark({ field: 'image', bare: true }),
  }
}
