import type { MediaSource } from '../content.ts'
import { sniffed } from './sniff.ts'

/** Characters of base64 that hold all the bytes a signature is looked for in. */
const HEAD = 24

/** The media type of a picture whose base64 stands alone: that of its first bytes, else PNG. */
export function typeOfBase64(data: string): string {
  const type = sniffed(Buffer.from(data.slice(0, HEAD), 'base64'))
  return type?.startsWith('image/') === true ? type : 'image/png'
}

/** A picture whose base64 stands alone, without a media type. */
export const pictureOfBase64 = (data: string): MediaSource => ({ type: 'base64', mediaType: typeOfBase64(data), data })
