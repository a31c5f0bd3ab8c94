import type { MediaPart } from '../../canonical/content.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { anyText, defined, rest } from '../fields.ts'
import { FIELDS, misread, readMade } from '../media/image-settings.ts'

const FORMAT = 'responses'
const TAKEN = new Set(['type', 'id', 'status', 'result', 'output_format', ...FIELDS])

export const isImageCall = (wire: JsonObject): boolean => wire['type'] === 'image_generation_call'

/** As many characters of base64 as identify a file's type. */
const HEAD = 24

/** The image an image generation call made; undefined where there is none, or the item is malformed. */
export function readImageCall(wire: JsonObject): MediaPart | undefined {
  const { id, status, result, output_format } = wire
  const texts = [id, status, output_format].every(field => field == null || typeof field === 'string')
  if (!isImageCall(wire) || typeof result !== 'string' || !texts) return undefined
  const format = anyText(output_format)
  const mediaType =
    format === undefined ? (sniffed(Buffer.from(result.slice(0, HEAD), 'base64')) ?? 'image/png') : `image/${format}`
  const marks = {
    id: id ?? null,
    ...(status == null ? {} : { status }),
    ...(format === undefined ? { output_format: 'absent' } : {}),
  }
  return {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mediaType, data: result },
    ...defined({ made: readMade(wire) }),
    ...rest(FORMAT, wire, TAKEN, marks, misread(wire)),
  }
}
