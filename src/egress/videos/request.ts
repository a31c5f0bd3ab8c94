import type { MediaPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { nearestSize } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import { type VideosDialect, videosDialect } from '../../formats/dialects/videos.ts'
import { defined, extrasFor } from '../fields.ts'
import { formFields } from '../media/form-texts.ts'
import { hasBytes, imageFile, imageReference } from '../media/input-images.ts'
import { type PathedPart, videoPromptOf } from '../media/video-prompt.ts'
import { NO_PROMPT, reportNumber, VIDEO } from '../media/video-settings.ts'
import { bodyWithModel, type NativeRequest, nativeSourceOf, withFields } from '../native.ts'
import { PLAIN_MEDIA_LOSSES } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'

/**
 * Writes the request as `POST /videos` or, to remix a video, `POST /videos/{id}/remix` (docs/wire/videos.md#openai).
 */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const nativeSource = options.native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  return nativeSource !== undefined && acceptsUnchanged(nativeSource.wire, videosDialect(options.dialect))
    ? writeUnchanged(request, nativeSource)
    : writeForeign(request, options)
}

/** Fields that may change while the rest of the body remains unchanged: the model, and the video to remix. */
const REWRITABLE: ReadonlySet<string> = new Set(['model', 'output'])

/** Returns true if the upstream accepts images in the caller's shape. No upstream accepts a bare string. */
const acceptsUnchanged = ({ body }: WireRequest, { references }: VideosDialect): boolean =>
  references === 'files'
    ? !Object.keys(body).some(field => field.startsWith(REFERENCE_FIELD) && body[field] != null)
    : typeof body[REFERENCE_FIELD] !== 'string'

/**
 * Writes a native request as received. A remix uses the model of its original video, so the request's model is dropped.
 */
function writeUnchanged(request: CanonicalRequest, nativeSource: NativeRequest): Written<WireRequest> {
  const losses = new Losses()
  const { body, files } = nativeSource.wire
  const namesModel = isRemix(request) && body['model'] !== undefined
  if (namesModel) losses.drop(['extras', FORMAT, 'model'], 'the-model-of-the-original')
  const sentSource = namesModel
    ? withFields(body, {}, ['model'])
    : isRemix(request)
      ? body
      : bodyWithModel(request, nativeSource)
  return { wire: { ...wireOf(request, sentSource), ...defined({ files }) }, losses: losses.list }
}

const isRemix = ({ output }: CanonicalRequest): boolean => output.video?.remixOf !== undefined

/** Writes a request from another format, or a native request whose shape the upstream does not accept. */
function writeForeign(request: CanonicalRequest, { dialect }: WriteOptions): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  const { video } = request.output
  const isRemix = video?.remixOf !== undefined
  const fieldOf = isRemix ? () => undefined : fieldIn(videosDialect(dialect))
  const { text, media } = videoPromptOf(request, { format: FORMAT, fieldOf }, losses)
  const prompt = text || addPrompt(request, media.length, losses)
  losses.dropFields(request, [], { endUser: 'no-users' })
  losses.dropFields(request.sampling, ['sampling'], { seed: 'no-seed' })
  reportNumber(request.output, losses)
  if (isRemix) {
    reportRemix(request, losses)
    return { wire: wireOf(request, { prompt, ...extrasFor(request, FORMAT) }), losses: losses.list }
  }
  const [, ...more] = media
  for (const { path } of more) losses.drop(path, 'one-picture-only')
  const { named, files } = writeReferences(media.slice(0, 1), losses)
  const settings = writeDimensions(video, losses)
  const body = { model: request.model, prompt, ...settings, ...named, ...extrasFor(request, FORMAT) }
  if (files === undefined) return { wire: wireOf(request, body), losses: losses.list }
  return { wire: { ...wireOf(request, formFields(body, request, FORMAT, losses)), files }, losses: losses.list }
}

/** Adds a default prompt if there is only an image, because the format requires a prompt. */
function addPrompt({ messages }: CanonicalRequest, imageCount: number, losses: Losses): string {
  if (imageCount === 0) throw NO_PROMPT
  const turn = messages.findLastIndex(({ role }) => role === 'user')
  losses.insert(['messages', turn, 'content', 0], { type: 'text', text: DEFAULT_PROMPT }, 'prompt-required')
  return DEFAULT_PROMPT
}

const DEFAULT_PROMPT = 'Animate this picture.'

function wireOf(request: CanonicalRequest, body: JsonObject): WireRequest {
  const remixOf = request.output.video?.remixOf
  const path = remixOf === undefined ? '/videos' : `/videos/${encodeURIComponent(remixOf)}/remix`
  return { path, query: {}, headers: {}, body }
}

const DIMENSION_LOSSES = {
  quality: 'no-quality',
  resolution: 'sizes-only',
  negativePrompt: 'no-negative-prompt',
  reference: 'no-references',
}
const REMIX_LOSSES = {
  ...DIMENSION_LOSSES,
  seconds: 'as-the-original',
  size: 'as-the-original',
  aspectRatio: 'as-the-original',
}

/** Reports the settings of a remix as lost, because it inherits its model and appearance from the original video. */
function reportRemix({ output }: CanonicalRequest, losses: Losses): void {
  losses.changeRestored(['model'], '', 'the-model-of-the-original')
  losses.dropFields(output.video, VIDEO, REMIX_LOSSES)
}

/** Sizes that every video model of OpenAI supports, in pixels (docs/wire/videos.md#openai). */
const SIZES = ['1280x720', '720x1280']

/** Writes duration and size. A ratio is converted to the nearest size. */
function writeDimensions(video: Output['video'], losses: Losses): JsonObject {
  losses.dropFields(video, VIDEO, DIMENSION_LOSSES)
  const size = video?.size ?? (video?.aspectRatio === undefined ? undefined : nearestSize(video.aspectRatio, SIZES))
  if (video?.aspectRatio !== undefined) losses.drop([...VIDEO, 'aspectRatio'], 'sizes-only')
  if (size !== undefined && video?.size === undefined) losses.add([...VIDEO, 'size'], size, 'nearest-size')
  return defined({ seconds: video?.seconds === undefined ? undefined : String(video.seconds), size }) as JsonObject
}

export const FORMAT = 'videos'
const REFERENCE_FIELD = 'input_reference'

/** The first frame of a video: a reference in the body (`named`), or a file of a form. */
interface References {
  readonly named: JsonObject
  readonly files: readonly WireFile[] | undefined
}

/** Returns the field for a media part, or undefined if the upstream does not support such media. */
const fieldIn =
  ({ references }: VideosDialect) =>
  (part: MediaPart): string | undefined =>
    part.kind === 'image' &&
    (part.use === undefined || part.use === 'reference') &&
    (hasBytes(part) || (references !== 'files' && isReferable(part)))
      ? REFERENCE_FIELD
      : undefined

const isReferable = ({ source }: MediaPart): boolean =>
  source.type === 'url' || (source.type === 'file-id' && source.format === FORMAT)

const IMAGE_LOSSES = { ...PLAIN_MEDIA_LOSSES, use: 'one-picture-only' }

/** Writes the image as a form file if its bytes are available, otherwise as a reference by URL or id. */
function writeReferences(media: readonly PathedPart[], losses: Losses): References {
  const [first] = media
  if (first === undefined) return { named: {}, files: [] }
  const { part, path } = first
  if (part.type === 'opaque') return { named: { [REFERENCE_FIELD]: part.value }, files: undefined }
  losses.dropFields(part, path, IMAGE_LOSSES)
  if (hasBytes(part)) return { named: {}, files: [imageFile(part, path, REFERENCE_FIELD, FORMAT, losses)] }
  const wire = imageReference(part, path, losses)!
  return { named: { [REFERENCE_FIELD]: { ...part.extras?.[FORMAT], ...wire } }, files: undefined }
}
