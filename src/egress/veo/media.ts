import type { MediaPart } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'
import { MEDIA_LOSSES, type PathedPart } from '../media/video-prompt.ts'

/** Maximum number of reference images per video. */
export const MAX_MEDIA = { referenceImages: 3 }

/** Media fields of an instance, in the order in which readers read them. */
export const FIELDS = ['image', 'lastFrame', 'referenceImages', 'video'] as const
type Field = (typeof FIELDS)[number]

const USES: { readonly [use in NonNullable<MediaPart['use']>]: Field | undefined } = {
  'last-frame': 'lastFrame',
  reference: 'referenceImages',
  mask: undefined,
}

/** Returns the field for a media part, or undefined if Veo does not support such media. */
export function fieldOf(part: MediaPart): Field | undefined {
  const { kind, use, source } = part
  if (source.type !== 'base64' && !isAtGoogle(part)) return undefined
  if (kind === 'video') return use === undefined ? 'video' : undefined
  if (kind !== 'image') return undefined
  return use === undefined ? 'image' : USES[use]
}

/**
 * Returns true if Google can read the media from its URL: a file in Google Cloud Storage, or a video that Veo
 * generated.
 */
export const isAtGoogle = ({ kind, source }: MediaPart): boolean =>
  source.type === 'url' && (source.url.startsWith('gs://') || (kind === 'video' && VEO_FILE.test(source.url)))

const VEO_FILE = /^https:\/\/generativelanguage\.googleapis\.com\/\w+\/files\//

/** Writes the media fields of an instance. */
export function writeMedia(media: readonly PathedPart[], losses: Losses): JsonObject {
  const out: { [field: string]: Json } = {}
  const references: JsonObject[] = []
  for (const { part, path } of media) {
    if (part.type === 'opaque') continue
    losses.dropFields(part, path, MEDIA_LOSSES)
    const field = fieldOf(part)!
    if (field === 'referenceImages') references.push({ image: imageOf(part), referenceType: 'asset' })
    else out[field] = field === 'video' ? videoOf(part) : imageOf(part)
  }
  return references.length === 0 ? out : { ...out, referenceImages: references }
}

const imageOf = ({ source }: MediaPart): JsonObject =>
  source.type === 'base64'
    ? { bytesBase64Encoded: source.data, mimeType: source.mediaType }
    : (defined({ gcsUri: urlOf(source), mimeType: typeOf(source) }) as JsonObject)

const videoOf = ({ source }: MediaPart): JsonObject =>
  source.type === 'base64'
    ? { encodedVideo: source.data, encoding: source.mediaType }
    : (defined({ uri: urlOf(source), encoding: typeOf(source) }) as JsonObject)

const urlOf = (source: MediaPart['source']): string | undefined => (source.type === 'url' ? source.url : undefined)
const typeOf = (source: MediaPart['source']): string | undefined =>
  'mediaType' in source ? source.mediaType : undefined
