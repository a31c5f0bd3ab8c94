import type { Made, MediaPart, MediaSource } from '../../canonical/content.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { anyText, defined } from '../fields.ts'
import { typeOfWord } from './types.ts'

/** The fields a picture comes in; where both are filled, the bytes count. */
export const PICTURE = ['b64_json', 'url'] as const

/** What is told beside a picture: the word for its kind, and how it was made. */
export interface Beside {
  readonly word: Json | undefined
  readonly made: Made | undefined
}

/** A picture of an answer, and the field it came in; undefined where there is none. */
export function readAnswered(
  wire: JsonObject,
  { word, made }: Beside,
  asked: CanonicalRequest,
): { readonly part: MediaPart; readonly field: string } | undefined {
  const data = anyText(wire['b64_json'])
  const url = anyText(wire['url'])
  if (data === undefined && url === undefined) return undefined
  const source: MediaSource =
    data === undefined
      ? { type: 'url', url: url! }
      : { type: 'base64', mediaType: mediaTypeOf(data, word, asked), data }
  return {
    part: { type: 'media', kind: 'image', source, ...defined({ made }) },
    field: data === undefined ? 'url' : 'b64_json',
  }
}

/** As many characters of base64 as tell the kind of a file. */
const HEAD = 24

/** What the upstream calls it, else what it looks like, else what was asked for. */
export const mediaTypeOf = (data: string, word: Json | undefined, asked: CanonicalRequest): string =>
  typeof word === 'string'
    ? typeOfWord(word)
    : (sniffed(Buffer.from(data.slice(0, HEAD), 'base64')) ?? asked.output.image?.mediaType ?? 'image/png')
