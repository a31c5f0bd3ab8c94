import { withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, required, text, WrongType } from '../fields.ts'
import { imageOfText, locateVideo, readLength, videoRequest } from '../media/video.ts'
import { requestAt } from './wire.ts'

export const FORMAT = 'kling'

/**
 * Reads the body of `POST /videovendor/v1/videos/text2video` or `image2video`.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readOrExplain(requestAt(wire), wire.body, () => readBody(wire))

const SETTINGS = [
  ...['prompt', 'image', 'image_tail', 'negative_prompt', 'duration', 'aspect_ratio', 'mode', 'external_task_id'],
]

function readBody(wire: WireRequest): CanonicalRequest {
  const { path, body } = wire
  const name = text(body['model_name']) === undefined ? 'model' : 'model_name'
  const model = required(text(body[name]))
  text(body['model'])
  const prompt = text(body['prompt'])
  const image = text(body['image'])
  const tail = text(body['image_tail'])
  if (!(path.endsWith('/image2video') ? (image ?? tail) : prompt)) throw WrongType.instance
  const images = [
    ...(image === undefined ? [] : [imageOfText(image)]),
    ...(tail === undefined ? [] : [{ ...imageOfText(tail), use: 'last-frame' } as const]),
  ]
  const seconds = readLength(body['duration'])
  const video = defined({
    seconds,
    aspectRatio: text(body['aspect_ratio']),
    quality: text(body['mode']),
    negativePrompt: text(body['negative_prompt']),
    reference: text(body['external_task_id']),
  })
  const request = {
    ...videoRequest(model, prompt, images, video),
    ...extrasOf(FORMAT, body, new Set([name, ...SETTINGS]), seconds === undefined ? ['duration'] : []),
  }
  return withWireSource(request, FORMAT, wire)
}

/** Locates the prompt and the images in the body. */
export const locate = locateVideo(part => (part.type === 'media' && part.use === 'last-frame' ? 'image_tail' : 'image'))

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/video/aspectRatio': ['aspect_ratio'],
  'output/video/seconds': ['duration'],
  'output/video/quality': ['mode'],
  'output/video/negativePrompt': ['negative_prompt'],
  'output/video/reference': ['external_task_id'],
  'output/video': ['prompt'],
  'output/modalities': ['prompt'],
}
