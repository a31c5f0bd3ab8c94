import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { writeLink } from './content.ts'

/** Whether the part is a generated image that fits into `images`. */
export const isPicture = (part: Part): part is MediaPart =>
  part.type === 'media' && part.kind === 'image' && (part.source.type === 'base64' || part.source.type === 'url')

const PICTURE_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'detail' | 'cache'> = {
  name: 'no-name-here',
  transcript: 'no-transcript-here',
  use: 'no-masks-here',
  made: 'no-looks-here',
}

/** The image as an entry of `images`, beside `content`: OpenRouter's field, as OpenAI has none. */
export function writePicture(part: MediaPart, path: Path, losses: Losses): JsonObject {
  losses.dropFields(part, path, PICTURE_LOSSES)
  return writeLink(part, 'image_url', path, { dialect: {}, native: false, losses })!
}
