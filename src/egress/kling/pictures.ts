import type { MediaPart } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import { typeOfBase64 } from '../../canonical/media/bare-picture.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { PlacedPart } from '../media/video-prompt.ts'

export const FORMAT = 'kling'

/** The fields of pictures, in the order in which their parts are read. */
const FIELDS = ['image', 'image_tail'] as const
type Field = (typeof FIELDS)[number]

function fieldOf({ kind, use }: MediaPart): Field | undefined {
  if (kind !== 'image') return undefined
  if (use === undefined) return 'image'
  return use === 'last-frame' ? 'image_tail' : undefined
}

export const rank = (part: MediaPart): number => FIELDS.indexOf(fieldOf(part)!)

/** Whether there is a field for the picture beside those that are taken. */
export function takes(part: MediaPart, taken: readonly MediaPart[]): boolean {
  const field = fieldOf(part)
  const { source } = part
  const isSayable = source.type === 'base64' || (source.type === 'url' && /^https?:\/\//i.test(source.url))
  return field !== undefined && isSayable && !taken.some(other => fieldOf(other) === field)
}

/** The pictures in their fields; upstreams take base64 that stands alone, whatever their caller wrote. */
export const writeUnchanged = (parts: readonly MediaPart[]): JsonObject =>
  Object.fromEntries(parts.map(part => [fieldOf(part)!, textOf(part)]))

const LOSSES = {
  name: 'no-names',
  detail: 'no-detail-here',
  cache: 'no-cache-markers',
  transcript: 'no-transcript-here',
  made: 'no-looks-here',
}

/** Pictures of any format's caller: an address, or base64 that stands alone and so has no media type. */
export function writePictures(media: readonly PlacedPart[], losses: Losses): JsonObject {
  const out: { [field: string]: Json } = {}
  for (const { part, path } of media) {
    if (part.type === 'opaque') continue
    losses.dropFields(part, path, LOSSES)
    const { source } = part
    if (source.type === 'url' && source.mediaType !== undefined)
      losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
    if (source.type === 'base64' && typeOfBase64(source.data) !== source.mediaType)
      losses.rename([...path, 'source', 'mediaType'], typeOfBase64(source.data), 'told-by-the-bytes')
    out[fieldOf(part)!] = textOf(part)
  }
  return out
}

const textOf = ({ source }: MediaPart): string => (source.type === 'base64' ? source.data : (urlOfSource(source) ?? ''))
