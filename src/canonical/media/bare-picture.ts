import type { MediaSource } from '../content.ts'
import { sniffedBase64 } from './sniff.ts'

/** The media type of a picture whose base64 stands alone: that of its first bytes, else PNG. */
export function typeOfBase64(data: string): string {
  const type = sniffedBase64(data)
  return type?.startsWith('image/') === true ? type : 'image/png'
}

/** A picture whose base64 stands alone, without a media type. */
export const pictureOfBase64 = (data: string): MediaSource => ({ type: 'base64', mediaType: typeOfBase64(data), data })
