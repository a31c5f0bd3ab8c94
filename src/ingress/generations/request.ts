import type { MediaPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { pixelsOf } from '../../canonical/media/video-size.ts'
import { type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { count, defined, extrasOf, number, required, text, texts, WrongType, withDefined } from '../fields.ts'
import { type Locate, locator } from '../locate.ts'
import { imageOfText, videoRequest } from '../media/video.ts'
import * as wire from './wire.ts'

/**
 * Reads the body of `POST /v1/video/generations`: JSON, with the length of the video in whole seconds.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming.body), FORMAT, incoming))

const FORMAT = 'generations'

const KNOWN_FIELDS = new Set([
  ...['model', 'prompt', 'duration', 'size', 'image', 'images', 'n', 'seed', 'quality', 'negative_prompt', 'user'],
])
const PIXEL_FIELDS = ['width', 'height'] as const
const SIZED_FIELDS = new Set([...KNOWN_FIELDS, ...PIXEL_FIELDS])

function readBody(body: JsonObject): CanonicalRequest {
  const model = required(text(body['model']))
  const prompt = required(text(body['prompt']))
  if (prompt === '') throw WrongType.instance
  const image = text(body['image'])
  const images = [...(image === undefined ? [] : [image]), ...(texts(body['images']) ?? [])]
  const size = text(body['size'])
  const pixels = size === undefined ? readPixels(body) : undefined
  const video = defined({
    seconds: number(body['duration']),
    size: size ?? pixels,
    quality: text(body['quality']),
    negativePrompt: text(body['negative_prompt']),
  })
  const request = videoRequest(model, prompt, images.map(imagePart), video)
  return {
    ...request,
    output: withDefined(request.output, { candidates: count(body['n']) }),
    sampling: defined({ seed: number(body['seed']) }),
    ...defined({ endUser: text(body['user']) }),
    ...extrasOf(FORMAT, body, pixels === undefined ? KNOWN_FIELDS : SIZED_FIELDS),
  }
}

/** Reads the size from `width` and `height`. Returns undefined unless both are numbers of pixels. */
function readPixels(body: JsonObject): string | undefined {
  const [width, height] = PIXEL_FIELDS.map(field => body[field])
  if (typeof width !== 'number' || typeof height !== 'number') return undefined
  const size = `${width}x${height}`
  return pixelsOf(size) === undefined ? undefined : size
}

/** Creates an image part. The first image is the first frame of the video; the others are references. */
const imagePart = (value: string, index: number): MediaPart => ({
  ...imageOfText(value),
  ...(index === 0 ? {} : { use: 'reference' }),
})

/** Locates the prompt and the images in the body. */
export function locate(request: CanonicalRequest): Locate {
  const { image, images } = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const imagePaths = [
    ...(typeof image === 'string' ? [['image']] : []),
    ...(texts(images) ?? []).map((_, index): Path => ['images', index]),
  ]
  return locator('prompt', [{ at: ['prompt'], parts: [['prompt'], ...imagePaths] }], ['prompt'])
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/candidates': ['n'],
  'output/video/seconds': ['duration'],
  'output/video/size': ['size', ...PIXEL_FIELDS],
  'output/video/quality': ['quality'],
  'output/video/negativePrompt': ['negative_prompt'],
  'output/video': ['prompt'],
  'output/modalities': ['prompt'],
  'sampling/seed': ['seed'],
  endUser: ['user'],
}
