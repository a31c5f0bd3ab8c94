import type { MediaPart, Part } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { rest, text, WrongType } from '../fields.ts'

const FORMAT = 'rerank'

/** The fields of documents that count, by the place each has among them. */
export type Fields = ReadonlyMap<string, number>

/** Those that are named, or the usual one. */
export const fieldsOf = (named: readonly string[] = ['text']): Fields =>
  new Map([...new Set(named)].map((field, place) => [field, place]))

const USUAL = fieldsOf()

/**
 * A document as parts: a text for each of its fields that count, in the order of these, and its picture. By what else
 * an object says nothing is ranked, so it is spelling, and stays with the first part.
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
  const left = rest(FORMAT, wire, new Set(shown ? [...named, 'image'] : named))
  const parts = [
    ...named.map((field): Part => ({ type: 'text', text: wire[field] as string, ...mark({ field }) })),
    ...(shown ? [readPicture(picture)] : []),
  ]
  const [first = { type: 'text', text: '', ...mark({ empty: true }) } as Part, ...others] = parts
  const spelling = {
    ...first.spelling?.[FORMAT],
    ...left.spelling?.[FORMAT],
    ...(left.extras === undefined ? {} : { more: left.extras[FORMAT]! }),
  }
  return [{ ...first, spelling: { [FORMAT]: spelling } }, ...others]
}

const mark = (spelt: JsonObject) => ({ spelling: { [FORMAT]: spelt } })

/** An address, or the bare base64 of a picture that says itself what it is. */
function readPicture(said: string): MediaPart {
  if (/^[a-z][a-z0-9+.-]*:/i.test(said))
    return { type: 'media', kind: 'image', source: sourceOfUrl(said), ...mark({ field: 'image' }) }
  const mediaType = sniffed(Buffer.from(said.slice(0, 64), 'base64')) ?? 'image/jpeg'
  return {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mediaType, data: said },
    ...mark({ field: 'image', bare: true }),
  }
}
