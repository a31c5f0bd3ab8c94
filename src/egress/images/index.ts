import type { Writer } from '../writer.ts'
import { imagesDialect } from './dialect.ts'
import { writeError } from './error.ts'
import { ImagesStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Pictures made and changed, FORMATS §10. */
export const images: Writer = {
  request: writeRequest,
  result: writeResult,
  events: asked => new ImagesStream(asked),
  bytes: dialect => imagesDialect(dialect).edits !== 'urls',
  fetches: (part, dialect) => part.kind === 'image' && imagesDialect(dialect).picture_urls === false,
  error: writeError,
}
