import { type MediaFacts, mediaAt } from '../../facts.ts'
import type { FormFile } from '../../format.ts'
import { compact, type Json, type JsonObject, objectOf, textOf } from '../../json.ts'
import { fileFacts, flagIn, listIn, numberIn } from '../../media/values.ts'

/* Extracts the facts of a request for images. */

export interface ImageRequestFacts {
  /** `generations`, `edits` or `variations`. */
  readonly action: string
  readonly prompt?: string
  /** The images to change, in order. */
  readonly images?: readonly MediaFacts[]
  /** Mask. Its transparent areas mark where the image may change. */
  readonly mask?: MediaFacts
  readonly settings?: ImageSettings
  readonly stream?: boolean
}

export interface ImageSettings {
  readonly count?: number
  readonly size?: string
  readonly quality?: string
  readonly background?: string
  readonly format?: string
  readonly compression?: number
  readonly moderation?: string
  readonly style?: string
  readonly fidelity?: string
  /** Maximum number of partial images. */
  readonly previews?: number
  /** `url` or `b64_json`. */
  readonly delivery?: string
  readonly endUser?: string
}

/** Reads an image reference: a URL, bytes in a `data:` URL, or a file id. */
function referenceFacts(value: Json): MediaFacts {
  const { image_url: url, file_id: id } = objectOf(value)
  return mediaAt(textOf(value) ?? textOf(url) ?? textOf(id) ?? '')
}

const IMAGE_FIELD = /^image(\[\d*\])?$/

export const imageFiles = (files: readonly FormFile[]): readonly FormFile[] =>
  files.filter(({ field }) => IMAGE_FIELD.test(field))

export function requestFacts(body: JsonObject, path: string, files: readonly FormFile[] = []): ImageRequestFacts {
  const mask = files.find(({ field }) => field === 'mask')
  return compact({
    action: path.split('/').at(-1)!,
    prompt: textOf(body['prompt']),
    images: [...listIn(body, 'images').map(referenceFacts), ...imageFiles(files).map(fileFacts)],
    mask: mask === undefined ? body['mask'] && referenceFacts(body['mask']) : fileFacts(mask),
    settings: compact({
      count: numberIn(body['n']),
      size: textOf(body['size']),
      quality: textOf(body['quality']),
      background: textOf(body['background']),
      format: textOf(body['output_format']),
      compression: numberIn(body['output_compression']),
      moderation: textOf(body['moderation']),
      style: textOf(body['style']),
      fidelity: textOf(body['input_fidelity']),
      previews: numberIn(body['partial_images']),
      delivery: textOf(body['response_format']),
      endUser: textOf(body['safety_identifier']) ?? textOf(body['user']),
    }),
    stream: flagIn(body['stream']) || undefined,
  }) as ImageRequestFacts
}
