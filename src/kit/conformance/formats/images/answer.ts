import { type MediaFacts, mediaOf } from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type MediaUsage, mediaUsage } from '../../media/usage.ts'

/* Extracts the facts of an answer with images. */

interface ImageFacts extends MediaFacts {
  /** The prompt as revised by the model. */
  readonly prompt?: string
}

export interface ImagesFacts {
  /** Ordered as in the answer. */
  readonly images?: readonly ImageFacts[]
  /** Partial images of a stream, each with its index. */
  readonly previews?: readonly (MediaFacts & { readonly index?: number })[]
  /** How the images were made. */
  readonly made?: {
    readonly size?: string
    readonly quality?: string
    readonly background?: string
    readonly format?: string
  }
  readonly usage?: MediaUsage
}

function mediaIn({ b64_json: base64, url }: JsonObject): MediaFacts {
  if (typeof base64 === 'string') return mediaOf(undefined, base64)
  return typeof url === 'string' ? { address: url } : {}
}

function imageFacts(value: Json): ImageFacts {
  const image = objectOf(value)
  return compact({ ...mediaIn(image), prompt: textOf(image['revised_prompt']) })
}

/** Returns the facts of a whole answer or of an assembled stream. */
export function answerFacts(body: JsonObject): ImagesFacts {
  return compact({
    images: listOf(body['data']).map(imageFacts),
    previews: listOf(body['previews'])
      .map(objectOf)
      .map(preview => compact({ ...mediaIn(preview), index: numberOf(preview['partial_image_index']) })),
    made: compact({
      size: textOf(body['size']),
      quality: textOf(body['quality']),
      background: textOf(body['background']),
      format: textOf(body['output_format']),
    }),
    usage: mediaUsage(objectOf(body['usage'])),
  }) as ImagesFacts
}
