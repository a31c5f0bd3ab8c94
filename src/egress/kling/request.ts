import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import { nearestRatio } from '../../canonical/media/video-size.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { videoPromptOf } from '../media/video-prompt.ts'
import { reportNumber, reportSetting, wholeSeconds } from '../media/video-settings.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, rank, takes, writePictures, writeUnchanged } from './pictures.ts'

const VIDEO = ['output', 'video']

/** The canonical request as `POST /v1/videos/text2video` or, with a picture, `/v1/videos/image2video` (Kling's API). */
export const writeRequest = (request: CanonicalRequest, { native }: WriteOptions): Written<WireRequest> =>
  native ? { wire: writeAsItCame(request), losses: [] } : writeForeign(request)

/** As the format's own caller wrote it. */
function writeAsItCame(request: CanonicalRequest): WireRequest {
  const { content = [] } = request.messages[0] ?? {}
  const { video } = request.output
  const pictures = writeUnchanged(content.filter(part => part.type === 'media'))
  const look = { mode: video?.quality, aspect_ratio: video?.aspectRatio, duration: durationOf(video) }
  const prompt = content.find(part => part.type === 'text')?.text
  return wireOf(request, { prompt, ...pictures, ...look, ...kept(request, FORMAT) })
}

/** As another format's caller wrote it. */
function writeForeign(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const { text, media } = videoPromptOf(request, { format: FORMAT, takes, rank }, losses)
  const pictures = writePictures(media, losses)
  const isBegun = Object.keys(pictures).length > 0
  if (!isBegun && (text === undefined || text === '')) throw NO_PROMPT
  const { video } = request.output
  losses.dropFields(request, [], { endUser: 'no-users' })
  losses.dropFields(request.sampling, ['sampling'], { seed: 'no-seed' })
  reportNumber(request.output, losses)
  losses.dropFields(video, VIDEO, { resolution: 'no-resolutions', remixOf: 'no-remixes' })
  const seconds = wholeSeconds(video, losses)
  const look = {
    mode: writeMode(video, losses),
    aspect_ratio: isBegun ? asThePicture(video, losses) : writeRatio(video, losses),
    duration: seconds === undefined ? undefined : String(seconds),
  }
  const { [FORMAT]: own } = request.extras ?? {}
  return { wire: wireOf(request, { prompt: text, ...pictures, ...look, ...own }), losses: losses.list }
}

const NO_PROMPT = new GatewayError({
  kind: 'cannot-express',
  message: "The model's upstream requires a prompt.",
  param: 'prompt',
})

function wireOf(request: CanonicalRequest, fields: object): WireRequest {
  const { video } = request.output
  const { path } = spelt(request, FORMAT)
  const body = defined({
    model_name: request.model,
    negative_prompt: video?.negativePrompt,
    external_task_id: video?.reference,
    ...fields,
  }) as JsonObject
  const isBegun = body['image'] != null || body['image_tail'] != null
  const kind = typeof path === 'string' ? path : isBegun ? 'image2video' : 'text2video'
  return { path: `/v1/videos/${kind}`, query: {}, headers: {}, body }
}

/** A number in a text, unless its caller wrote it otherwise. */
function durationOf(video: Output['video']): Json | undefined {
  if (video?.seconds === undefined) return undefined
  const { duration } = spelt(video, FORMAT)
  return duration === 'number' ? video.seconds : (duration ?? String(video.seconds))
}

const MODES: ReadonlySet<string | undefined> = new Set(['std', 'pro'])

function writeMode(video: Output['video'], losses: Losses): string | undefined {
  if (MODES.has(video?.quality)) return video?.quality
  losses.dropFields(video, VIDEO, { quality: 'modes-only' })
  return undefined
}

const RATIOS = ['16:9', '9:16', '1:1']

/** A size in pixels is written as the nearest ratio. */
function writeRatio(video: Output['video'], losses: Losses): string | undefined {
  if (video?.size === undefined) return video?.aspectRatio
  losses.drop([...VIDEO, 'size'], 'ratios-only')
  const ratio = nearestRatio(video.size, RATIOS)
  if (ratio === undefined) return video.aspectRatio
  reportSetting(video, 'aspectRatio', ratio, 'nearest-to-the-size', losses)
  return ratio
}

/** What begins with a picture has its shape. */
function asThePicture(video: Output['video'], losses: Losses): undefined {
  losses.dropFields(video, VIDEO, { size: 'as-the-picture', aspectRatio: 'as-the-picture' })
}
