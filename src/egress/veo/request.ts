import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { nearestRatio, pixelsOf } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, definedIfAny } from '../fields.ts'
import { videoPromptOf } from '../media/video-prompt.ts'
import { nearestLength, reportNumber, reportSetting, VIDEO, wholeSeconds } from '../media/video-settings.ts'
import { FIELDS, fieldOf, MAX_MEDIA, writeMedia } from './media.ts'

const FORMAT = 'veo'

/**
 * Writes the request as `POST /v1beta/models/{model}:predictLongRunning` of the Gemini API (ai.google.dev, "Generate
 * videos with Veo"). Callers do not use this format, so no request is native.
 */
export function writeRequest(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  const { text, media } = videoPromptOf(request, { format: FORMAT, fields: FIELDS, most: MAX_MEDIA, fieldOf }, losses)
  losses.dropFields(request, [], { endUser: 'no-users' })
  const instance = { ...defined({ prompt: text }), ...writeMedia(media, losses) }
  const body = {
    instances: [instance],
    ...defined({ parameters: writeParameters(request, 'referenceImages' in instance, losses) }),
  }
  const path = `/v1beta/models/${encodeURIComponent(request.model.toWellFormed())}:predictLongRunning`
  return { wire: { path, query: {}, headers: {}, body: body as JsonObject }, losses: losses.list }
}

const LOSSES = { quality: 'no-quality', remixOf: 'no-remixes', reference: 'no-references' }

function writeParameters(
  { output, model, sampling: { seed } }: CanonicalRequest,
  hasReferences: boolean,
  losses: Losses,
): object | undefined {
  const { video } = output
  // Answers have one address, so that callers could not fetch a second video that Google makes and bills.
  reportNumber(output, losses)
  losses.dropFields(video, VIDEO, LOSSES)
  const dimensions = writeDimensions(video, losses)
  const isFullLength = hasReferences || FULL_LENGTH_RESOLUTIONS.has(dimensions.resolution)
  return definedIfAny({
    ...dimensions,
    durationSeconds: lengthOf(video, model, isFullLength, losses),
    negativePrompt: video?.negativePrompt,
    seed,
  })
}

/** Resolutions of which Veo 3 makes only videos of the full length, as with reference images (ArcReel/ArcReel#1333). */
const FULL_LENGTH_RESOLUTIONS: ReadonlySet<string | undefined> = new Set(['1080p', '4k'])

/** Returns the length nearest to the requested one that the model makes (docs/wire/videos.md#veo). */
function lengthOf(video: Output['video'], model: string, isFullLength: boolean, losses: Losses): number | undefined {
  if (/\bveo-3/i.test(model)) return nearestLength(video, isFullLength ? [8] : [4, 6, 8], losses)
  return /\bveo-2/i.test(model) ? nearestLength(video, [5, 6, 7, 8], losses) : wholeSeconds(video, losses)
}

const RATIOS = ['16:9', '9:16']
/** Shorter side of each resolution in pixels, largest first. */
const RESOLUTIONS = [
  { name: '4k', lines: 2160 },
  { name: '1080p', lines: 1080 },
  { name: '720p', lines: 720 },
] as const

interface Dimensions {
  readonly aspectRatio?: string | undefined
  readonly resolution?: string | undefined
}

/**
 * Converts a size in pixels to the nearest ratio and the largest resolution that does not exceed the size. Reports any
 * difference.
 */
function writeDimensions(video: Output['video'], losses: Losses): Dimensions {
  if (video?.size === undefined) return { aspectRatio: video?.aspectRatio, resolution: video?.resolution }
  const pixels = pixelsOf(video.size)
  const aspectRatio = nearestRatio(video.size, RATIOS)
  if (pixels === undefined || aspectRatio === undefined) {
    losses.drop([...VIDEO, 'size'], 'no-size-in-pixels')
    return { aspectRatio: video.aspectRatio, resolution: video.resolution }
  }
  const shorterSide = Math.min(...pixels)
  const resolution = RESOLUTIONS.find(one => one.lines <= shorterSide)
  const isExact = resolution?.lines === shorterSide && Math.max(...pixels) * 9 === shorterSide * 16
  if (isExact) losses.dropRestored([...VIDEO, 'size'], 'ratio-and-resolution')
  else losses.drop([...VIDEO, 'size'], 'ratio-and-resolution')
  const reason = isExact ? 'minted-of-the-size' : 'nearest-to-the-size'
  reportSetting(video, 'aspectRatio', aspectRatio, reason, losses)
  reportSetting(video, 'resolution', resolution?.name, reason, losses)
  return { aspectRatio, resolution: resolution?.name }
}
