import type { MediaPart } from '../../canonical/content.ts'
import { pictureOfBase64 } from '../../canonical/media/bare-picture.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, required, rest, spelling, text, WrongType } from '../fields.ts'
import { requestAt } from './wire.ts'

const FORMAT = 'kling'

/** `POST /videovendor/v1/videos/text2video` and `image2video` (SERVICE.md, "Video"). */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readValidated(
    () => requestAt(wire),
    wire.body,
    () => read(wire),
  )

const SETTINGS = ['prompt', 'image', 'image_tail', 'negative_prompt', 'duration', 'aspect_ratio', 'mode']

function read({ path, body }: WireRequest): CanonicalRequest {
  const name = text(body['model_name']) === undefined ? 'model' : 'model_name'
  const model = required(text(body[name]))
  text(body['model'])
  const prompt = text(body['prompt'])
  const image = text(body['image'])
  const tail = text(body['image_tail'])
  const isOfPicture = path.endsWith('/image2video')
  if (!(isOfPicture ? (image ?? tail) : prompt)) throw WrongType.instance
  const isUsualPath = isOfPicture === (image !== undefined || tail !== undefined)
  const refused: string[] = []
  return {
    model,
    messages: [
      {
        role: 'user',
        content: [
          ...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]),
          ...(image === undefined ? [] : [picture(image)]),
          ...(tail === undefined ? [] : [{ ...picture(tail), use: 'last-frame' } as const]),
        ],
      },
    ],
    output: { modalities: ['video'], ...readVideo(body, refused) },
    sampling: {},
    stream: false,
    ...rest(
      FORMAT,
      body,
      new Set([name, ...SETTINGS, 'external_task_id']),
      spelling({ path: isUsualPath ? undefined : path.split('/').at(-1) }),
      refused,
    ),
  }
}

/** A picture at an address, or in base64 that stands alone or in a `data:` URL. */
function picture(value: string): MediaPart {
  const part = { type: 'media', kind: 'image' } as const
  if (value.startsWith('data:')) return { ...part, source: sourceOfUrl(value) }
  return { ...part, source: /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? sourceOfUrl(value) : pictureOfBase64(value) }
}

function readVideo(body: JsonObject, refused: string[]): Pick<Output, 'video'> {
  const seconds = readDuration(body['duration'], refused)
  const video = defined({
    seconds,
    aspectRatio: text(body['aspect_ratio']),
    quality: text(body['mode']),
    negativePrompt: text(body['negative_prompt']),
    reference: text(body['external_task_id']),
  })
  if (Object.keys(video).length === 0) return {}
  const isUsual = seconds === undefined || body['duration'] === String(seconds)
  const duration = typeof body['duration'] === 'number' ? 'number' : body['duration']!
  return { video: isUsual ? video : { ...video, spelling: { [FORMAT]: { duration } } } }
}

/** A number in a text, or bare as some callers write it; any other text is for the upstream to judge. */
function readDuration(wire: Json | undefined, refused: string[]): number | undefined {
  if (wire == null) return undefined
  if (typeof wire !== 'string' && typeof wire !== 'number') throw WrongType.instance
  const seconds = typeof wire === 'number' ? wire : wire.trim() === '' ? Number.NaN : Number(wire)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  refused.push('duration')
  return undefined
}
