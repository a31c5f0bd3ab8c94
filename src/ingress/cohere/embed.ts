import type { Part } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { VectorEncoding } from '../../canonical/vector.ts'
import {
  defined,
  nested,
  number,
  object,
  objects,
  required,
  rest,
  spelling,
  text,
  texts,
  WrongType,
} from '../fields.ts'
import { LISTS } from './wire.ts'

const FORMAT = 'cohere'

const PURPOSES: ReadonlyMap<string | undefined, EmbeddingPurpose> = new Map<string | undefined, EmbeddingPurpose>([
  ['search_query', 'query'],
  ['search_document', 'document'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
])

const TAKEN = new Set(['model', ...LISTS, 'input_type', 'embedding_types', 'output_dimension'])

/** The inputs to embed, a message each: texts, then images, then inputs of several parts. */
export function readEmbed(body: JsonObject): CanonicalRequest {
  const plain = texts(body['texts']) ?? []
  const images = texts(body['images']) ?? []
  const inputs = objects(body['inputs']) ?? []
  const messages = [...plain.map(ofText), ...images.map(ofImage), ...inputs.map(ofInput)]
  if (messages.length === 0) throw WrongType.instance
  const refused: string[] = []
  const type = text(body['input_type'])
  const purpose = PURPOSES.get(type)
  if (purpose === undefined && type !== 'image') refused.push('input_type')
  const encoding = readEncoding(body, refused)
  const embedding = defined({ dimensions: number(body['output_dimension']), encoding, purpose })
  const empty = LISTS.filter(list => Array.isArray(body[list]) && body[list].length === 0)
  const spelt = spelling({
    type: type === 'image' ? type : undefined,
    empty: empty.length === 0 ? undefined : empty,
  })
  return {
    model: required(text(body['model'])),
    messages,
    output: { modalities: ['embedding'], ...(Object.keys(embedding).length === 0 ? {} : { embedding }) },
    sampling: {},
    stream: false,
    ...rest(FORMAT, body, TAKEN, spelt, refused),
  }
}

/** One of the two encodings other formats have; several of them, or fewer bits, stay in extras. */
function readEncoding(body: JsonObject, refused: string[]): VectorEncoding | undefined {
  const types = texts(body['embedding_types'])
  const encoding = (['float', 'base64'] as const).find(one => types?.includes(one))
  if (encoding === undefined || types?.length !== 1) refused.push('embedding_types')
  return encoding
}

const from = (list: (typeof LISTS)[number]) => ({ spelling: { [FORMAT]: { in: list } } })

const ofText = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

const ofImage = (url: string): Message => ({
  role: 'user',
  content: [{ type: 'media', kind: 'image', source: sourceOfUrl(url) }],
  ...from('images'),
})

const INPUT = new Set(['content'])

const ofInput = (wire: JsonObject): Message => ({
  role: 'user',
  content: required(objects(wire['content'])).map(readPart),
  ...rest(FORMAT, wire, INPUT, { in: 'inputs' }),
})

const TEXT = new Set(['type', 'text'])
const PICTURE = new Set(['type', 'image_url'])
const LINK = new Set(['url'])

function readPart(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  if (type === 'text') return { type: 'text', text: required(text(wire['text'])), ...rest(FORMAT, wire, TEXT) }
  if (type !== 'image_url') return { type: 'opaque', format: FORMAT, value: wire }
  const link = required(object(wire['image_url']))
  const source = sourceOfUrl(required(text(link['url'])))
  return { type: 'media', kind: 'image', source, ...nested(FORMAT, wire, 'image_url', link, LINK, PICTURE) }
}
