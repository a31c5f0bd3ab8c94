import type { Made, MediaPart, MediaSource } from '../../canonical/content.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { anyText, defined } from '../fields.ts'
import { mediaTypeOfName } from './types.ts'

/** The fields an image comes in; where both are filled, the bytes count. */
export const PICTURE = ['b64_json', 'url'] as const

/** Fields beside an image: its file format, and how it was made. */
export interface Context {
  readonly outputFormat: Json | undefined
  readonly made: Made | undefined
}

/** An image of an answer, and the field it came in; undefined where there is none. */
export function readAnswered(
  wire: JsonObject,
  { outputFormat, made }: Context,
  request: CanonicalRequest,
): { readonly part: MediaPart; readonly field: string } | undefined {
  const data = anyText(wire['b64_json'])
  const url = anyText(wire['url'])
  if (data === undefined && url === undefined) return undefined
  const source: MediaSource =
    data === undefined
      ? { type: 'url', url: url! }
      : { type: 'base64', mediaType: mediaTypeOf(data, outputFormat, request), data }
  return {
    part: { type: 'media', kind: 'image', source, ...defined({ made }) },
    field: data === undefined ? 'url' : 'b64_json',
  }
}

/** As many characters of base64 as identify a file's type. */
const HEAD = 24

/** The upstream's value, else the type found in the bytes, else the one requested. */
export const mediaTypeOf = (data: string, outputFormat: Json | undefined, request: CanonicalRequest): string =>
  typeof outputFormat === 'string'
    ? mediaTypeOfName(outputFormat)
    : (sniffed(Buffer.from(data.slice(0, HEAD), 'base64')) ?? request.output.image?.mediaType ?? 'image/png')
