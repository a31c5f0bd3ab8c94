import type { MediaPart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { count, defined, left, number, required, text, texts, WrongType, withDefined } from '../fields.ts'
import { locateVideo, videoRequest } from '../media/video.ts'
import * as wire from './wire.ts'

/** `POST /v1/video/generations` (SERVICE.md, "Video"): JSON, the length of the video in whole seconds. */
export const readRequest = ({ body }: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, body, () => read(body))

const TAKEN = new Set([
  ...['model', 'prompt', 'duration', 'size', 'image', 'images', 'n', 'seed', 'quality', 'negative_prompt', 'user'],
])

function read(body: JsonObject): CanonicalRequest {
  const model = required(text(body['model']))
  const prompt = required(text(body['prompt']))
  if (prompt === '') throw WrongType.instance
  const image = text(body['image'])
  const pictures = [...(image === undefined ? [] : [image]), ...(texts(body['images']) ?? [])]
  const video = defined({
    seconds: number(body['duration']),
    size: text(body['size']),
    quality: text(body['quality']),
    negativePrompt: text(body['negative_prompt']),
  })
  const request = videoRequest(model, prompt, pictures.map(picture), video)
  return {
    ...request,
    output: withDefined(request.output, { candidates: count(body['n']) }),
    sampling: defined({ seed: number(body['seed']) }),
    ...defined({ endUser: text(body['user']) }),
    ...left('generations', body, TAKEN),
  }
}

/** The first picture is where the video begins; others are to be seen in it. */
const picture = (url: string, index: number): MediaPart => ({
  type: 'media',
  kind: 'image',
  source: sourceOfUrl(url),
  ...(index === 0 ? {} : { use: 'reference' }),
})

/** Where in a body its prompt and its pictures stand. */
export const locate = locateVideo(() => 'image')
