import type { MediaPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { imageTypeOfBase64 } from '../../canonical/media/sniff.ts'
import { nearestRatio } from '../../canonical/media/video-size.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, extrasFor } from '../fields.ts'
import { reportTypeOfUrl } from '../media/input-images.ts'
import { MEDIA_LOSSES, type PathedPart, videoPromptOf } from '../media/video-prompt.ts'
import { NO_PROMPT, nearestLength, reportNumber, reportSetting, VIDEO, wholeSeconds } from '../media/video-settings.ts'
import { type NativeRequest, nativeSourceOf, withFields } from '../native.ts'
import type { WriteOptions } from '../writer.ts'

/** Writes the request as `POST /v1/videos/text2video`, or `/v1/videos/image2video` if it has an image (Kling's API). */
export function writeRequest(request: CanonicalRequest, { native }: WriteOptions): Written<WireRequest> {
  const nativeSource = native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  return nativeSource === undefined ? writeForeign(request) : writeUnchanged(request, nativeSource)
}

/**
 * Fields that may change while the rest of the body remains unchanged: the model, the images, and the task's reference.
 */
const REWRITABLE: ReadonlySet<string> = new Set(['model', 'messages', 'output'])

/**
 * Writes a native request as received, except for the model, the reference, and base64 images, which upstreams only
 * accept without a data URL prefix.
 */
function writeUnchanged({ model, messages, output }: CanonicalRequest, { wire }: NativeRequest): Written<WireRequest> {
  const losses = new Losses()
  const images = messages.flatMap(({ content }) => content.filter(part => part.type === 'media'))
  const fields = {
    model_name: model,
    ...Object.fromEntries(images.map(part => [fieldOf(part)!, textOf(part)])),
    ...(output.video?.reference === undefined ? {} : { external_task_id: output.video.reference }),
  }
  const { model: otherModel, model_name: readModel } = wire.body
  // Only `model_name` was checked against the key's permissions.
  if (typeof readModel === 'string' && otherModel !== undefined)
    losses.drop(['extras', FORMAT, 'model'], 'one-model-only')
  const body = withFields(wire.body, fields, otherModel === undefined ? [] : ['model'])
  return { wire: wireOf(wire.path.split('/').at(-1)!, body), losses: losses.list }
}

/** Writes a request from another format. */
function writeForeign(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  const { text, media } = videoPromptOf(request, { format: FORMAT, fields: IMAGE_FIELDS, fieldOf: fieldFor }, losses)
  const images = writeImages(media, losses)
  const extras = extrasFor(request, FORMAT)
  const imageFields = { ...images, ...extras }
  const startsFromImage = IMAGE_FIELDS.some(field => imageFields[field] != null)
  if (!startsFromImage && (text === undefined || text === '')) throw NO_PROMPT
  const { video } = request.output
  losses.dropFields(request, [], { endUser: 'no-users' })
  losses.dropFields(request.sampling, ['sampling'], { seed: 'no-seed' })
  reportNumber(request.output, losses)
  losses.dropFields(video, VIDEO, { resolution: 'no-resolutions', remixOf: 'no-remixes' })
  const seconds = lengthOf(request, losses)
  const settings = {
    mode: writeMode(video, losses),
    aspect_ratio: startsFromImage ? reportShape(video, losses) : writeRatio(video, losses),
    duration: seconds === undefined ? undefined : String(seconds),
  }
  const body = defined({
    model_name: request.model,
    negative_prompt: video?.negativePrompt,
    external_task_id: video?.reference,
    prompt: text,
    ...images,
    ...settings,
    ...extras,
  }) as JsonObject
  return { wire: wireOf(startsFromImage ? 'image2video' : 'text2video', body), losses: losses.list }
}

/** Matches models of known lengths before version 3, which makes videos of 3 to 15 seconds. */
const FIXED_LENGTHS = /\bkling-v[12](?!\d)/i
const VERSION_3 = /\bkling-v3/i

/** Returns the length nearest to the requested one that the model makes (docs/wire/videos.md#kling). */
function lengthOf({ model, output: { video } }: CanonicalRequest, losses: Losses): number | undefined {
  if (FIXED_LENGTHS.test(model)) return nearestLength(video, [5, 10], losses)
  if (VERSION_3.test(model)) return nearestLength(video, LENGTHS_OF_3, losses)
  return wholeSeconds(video, losses)
}

const LENGTHS_OF_3 = Array.from({ length: 13 }, (_, index) => index + 3)

const wireOf = (kind: string, body: JsonObject): WireRequest => ({
  path: `/v1/videos/${kind}`,
  query: {},
  headers: {},
  body,
})

const MODES: ReadonlySet<string | undefined> = new Set(['std', 'pro'])

function writeMode(video: Output['video'], losses: Losses): string | undefined {
  if (MODES.has(video?.quality)) return video?.quality
  losses.dropFields(video, VIDEO, { quality: 'std-and-pro-only' })
  return undefined
}

const RATIOS = ['16:9', '9:16', '1:1']

/** Writes the aspect ratio. A size in pixels is mapped to the nearest ratio. */
function writeRatio(video: Output['video'], losses: Losses): string | undefined {
  if (video?.size === undefined) return video?.aspectRatio
  losses.drop([...VIDEO, 'size'], 'ratios-only')
  const ratio = nearestRatio(video.size, RATIOS)
  if (ratio === undefined) return video.aspectRatio
  reportSetting(video, 'aspectRatio', ratio, 'nearest-to-the-size', losses)
  return ratio
}

/** Reports size and aspect ratio as lost, because a video made from an image has the image's shape. */
function reportShape(video: Output['video'], losses: Losses): undefined {
  losses.dropFields(video, VIDEO, { size: 'shape-of-the-image', aspectRatio: 'shape-of-the-image' })
}

export const FORMAT = 'kling'

/** Image fields, in the order in which readers read them. */
const IMAGE_FIELDS = ['image', 'image_tail'] as const
type Field = (typeof IMAGE_FIELDS)[number]

/** Returns the field for an image, or undefined for other media and other uses. */
function fieldOf({ kind, use }: MediaPart): Field | undefined {
  if (kind !== 'image') return undefined
  if (use === undefined) return 'image'
  return use === 'last-frame' ? 'image_tail' : undefined
}

/**
 * Returns the field for an image that the upstream can read, from an HTTP URL or base64, or undefined for any other
 * media.
 */
function fieldFor(part: MediaPart): Field | undefined {
  const { source } = part
  const isReadable = source.type === 'base64' || (source.type === 'url' && /^https?:\/\//i.test(source.url))
  return isReadable ? fieldOf(part) : undefined
}

/** Writes images as URLs or bare base64, neither of which states a media type. */
function writeImages(media: readonly PathedPart[], losses: Losses): JsonObject {
  const out: { [field: string]: Json } = {}
  for (const { part, path } of media) {
    if (part.type === 'opaque') continue
    losses.dropFields(part, path, MEDIA_LOSSES)
    reportTypeOfUrl(part, path, losses)
    const { source } = part
    if (source.type === 'base64' && imageTypeOfBase64(source.data) !== source.mediaType)
      losses.changeRestored([...path, 'source', 'mediaType'], imageTypeOfBase64(source.data), 'implied-by-the-bytes')
    out[fieldOf(part)!] = textOf(part)
  }
  return out
}

const textOf = ({ source }: MediaPart): string => (source.type === 'base64' ? source.data : (urlOfSource(source) ?? ''))
