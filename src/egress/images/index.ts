import { imagesDialect } from '../../formats/dialects/images.ts'
import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { takesJson } from './content.ts'
import { ImagesStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for image generation and editing (docs/wire/images.md). */
export const images: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new ImagesStream(request),
  bytes: dialect => !takesJson(imagesDialect(dialect)),
  mustFetch: ({ kind }, dialect) => {
    const { edits, picture_urls } = imagesDialect(dialect)
    return kind === 'image' && (edits === 'form' || picture_urls === false)
  },
  mustFetchNative: true,
  imageUrls: true,
  error: writeError,
}
