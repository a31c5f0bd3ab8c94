import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import { nearestSize } from '../../canonical/media/video-size.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { videoPromptOf } from '../media/video-prompt.ts'
import { reportNumber } from '../media/video-settings.ts'
import type { WriteOptions } from '../writer.ts'
import { videosDialect } from './dialect.ts'
import { FORMAT, fits, isTaken, type References, writeReferences, writeUnchanged } from './pictures.ts'

/** The canonical request as `POST /videos` or, to change a video, `POST /videos/{id}/remix` (FORMATS §11). */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const { content = [] } = request.messages[0] ?? {}
  return options.native && fits(content, videosDialect(options.dialect))
    ? { wire: writeAsItCame(request), losses: [] }
    : writeForeign(request, options)
}

/** As the format's own caller wrote it. */
function writeAsItCame(request: CanonicalRequest): WireRequest {
  const inForm = spelt(request, FORMAT)['form'] === true
  const { content = [] } = request.messages[0] ?? {}
  const { video } = request.output
  const seconds = spelt(video, FORMAT)['seconds'] ?? (video?.seconds === undefined ? undefined : String(video.seconds))
  const prompt = content.find(part => part.type === 'text')?.text
  return wireOf(request, { prompt, seconds, size: video?.size }, writeUnchanged(content, inForm))
}

/** As another format's caller wrote it, or this one's in a way its upstream does not take. */
function writeForeign(request: CanonicalRequest, { dialect }: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const { video } = request.output
  const isRemix = video?.remixOf !== undefined
  const takes = isRemix ? () => false : isTaken(videosDialect(dialect))
  const { text, media } = videoPromptOf(request, { format: FORMAT, takes }, losses)
  const prompt = text || addPrompt(request, media.length, losses)
  losses.dropFields(request, [], { endUser: 'no-users' })
  losses.dropFields(request.sampling, ['sampling'], { seed: 'no-seed' })
  reportNumber(request.output, losses)
  if (isRemix) {
    reportRemix(request, losses)
    return { wire: wireOf(request, { prompt }, { named: {}, files: undefined }), losses: losses.list }
  }
  const [, ...more] = media
  for (const { path } of more) losses.drop(path, 'one-picture-only')
  const references = writeReferences(media.slice(0, 1), losses)
  const wire = wireOf(request, { prompt, ...writeLook(video, losses) }, references)
  if (wire.files === undefined) return { wire, losses: losses.list }
  return { wire: { ...wire, body: inTexts(wire.body, losses) }, losses: losses.list }
}

/** A prompt is required here, also beside an image. */
function addPrompt({ messages }: CanonicalRequest, pictures: number, losses: Losses): string {
  if (pictures === 0) throw NO_PROMPT
  const turn = messages.findLastIndex(({ role }) => role === 'user')
  losses.insert(['messages', turn, 'content', 0], { type: 'text', text: USUAL_PROMPT }, 'prompt-required')
  return USUAL_PROMPT
}

const USUAL_PROMPT = 'Animate this picture.'

const NO_PROMPT = new GatewayError({
  kind: 'cannot-express',
  message: "The model's upstream requires a prompt.",
  param: 'prompt',
})

function wireOf(request: CanonicalRequest, said: object, { named, files }: References): WireRequest {
  const remixOf = request.output.video?.remixOf
  const body = {
    ...(remixOf === undefined ? { model: request.model } : {}),
    ...defined(said),
    ...named,
    ...kept(request, FORMAT),
  } as JsonObject
  const path = remixOf === undefined ? '/videos' : `/videos/${encodeURIComponent(remixOf)}/remix`
  return { path, query: {}, headers: {}, body, ...defined({ files }) }
}

const VIDEO = ['output', 'video']
const LOOK_LOSSES = {
  quality: 'no-quality',
  resolution: 'sizes-only',
  negativePrompt: 'no-negative-prompt',
  reference: 'no-references',
}
const REMIX_LOSSES = {
  ...LOOK_LOSSES,
  seconds: 'as-the-original',
  size: 'as-the-original',
  aspectRatio: 'as-the-original',
}

/** A changed video has model and looks of the one it was. */
function reportRemix({ output }: CanonicalRequest, losses: Losses): void {
  losses.rename(['model'], '', 'the-model-of-the-original')
  losses.dropFields(output.video, VIDEO, REMIX_LOSSES)
}

/** The sizes every model of OpenAI's makes (FORMATS §11). */
const SIZES = ['1280x720', '720x1280']

/** Length and size; a ratio becomes the nearest size. */
function writeLook(video: Output['video'], losses: Losses): JsonObject {
  losses.dropFields(video, VIDEO, LOOK_LOSSES)
  const size = video?.size ?? (video?.aspectRatio === undefined ? undefined : nearestSize(video.aspectRatio, SIZES))
  if (video?.aspectRatio !== undefined) losses.drop([...VIDEO, 'aspectRatio'], 'sizes-only')
  if (size !== undefined && video?.size === undefined) losses.add([...VIDEO, 'size'], size, 'nearest-size')
  return defined({ seconds: video?.seconds === undefined ? undefined : String(video.seconds), size }) as JsonObject
}

/** A form has only texts; extras are read back as texts. */
function inTexts(body: JsonObject, losses: Losses): JsonObject {
  const entries = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(entries.map(([field, value]) => [field, inText(field, value, losses)]))
}

function inText(field: string, value: Json, losses: Losses): Json {
  if (typeof value === 'string') return value
  const text = JSON.stringify(value)
  losses.change(['extras', FORMAT, field], text, 'forms-have-texts-alone')
  return text
}
