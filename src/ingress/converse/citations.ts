import type { Annotation, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyText, defined, extrasOf, object, objects, required, text } from '../fields.ts'
import { FORMAT } from './wire.ts'

const CITED_TEXT_FIELDS = new Set(['content', 'citations'])

/** Reads a text with citations. The block's texts are joined into one. */
export function readCited(block: JsonObject): Part {
  const wire = required(object(block['citationsContent']))
  const texts = (objects(wire['content']) ?? []).map(one => text(one['text']) ?? '')
  const annotations = objects(wire['citations'])?.map(readCitation)
  return {
    type: 'text',
    text: texts.join(''),
    ...defined({ annotations }),
    ...extrasOf(FORMAT, wire, CITED_TEXT_FIELDS),
  }
}

const CITATION = new Set(['title', 'sourceContent', 'location'])
const CITATION_WITH_DOMAIN = new Set(['title', 'sourceContent'])

/** Reads a citation of a web page. Citations of the caller's own documents become opaque. */
export function readCitation(wire: JsonObject): Annotation {
  const { location } = wire
  const web = isObject(location) && Object.keys(location).length === 1 ? location['web'] : undefined
  const url = isObject(web) ? anyText(web['url']) : undefined
  const quote = quoteIn(wire['sourceContent'])
  const { title } = wire
  if (url === undefined || quote === undefined || !(title == null || typeof title === 'string'))
    return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'citation',
    url,
    ...defined({ title: title ?? undefined, quote: quote === '' ? undefined : quote }),
    // A page has also a domain (`nova_grounding`), for which other formats have no field.
    ...extrasOf(FORMAT, wire, Object.keys(web as JsonObject).length === 1 ? CITATION : CITATION_WITH_DOMAIN),
  }
}

/** Returns the cited text: empty if there is none, undefined if the source is anything but a single text. */
function quoteIn(wire: Json | undefined): string | undefined {
  if (wire == null) return ''
  if (!Array.isArray(wire) || wire.length > 1) return undefined
  const [first] = wire
  if (first === undefined) return ''
  return isObject(first) && Object.keys(first).length === 1 ? anyText(first['text']) : undefined
}
