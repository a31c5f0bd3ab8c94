import type { MediaPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import { type MediaPrices, tokenPrices } from '../../providers/index.ts'
import { sizeOf } from './picture-size.ts'

/** Bytes of a medium that are looked at: heads of pictures, marks of pages. */
const LOOKED_AT = 8 * 1024 * 1024
/** Bytes at the beginning of a JPEG that hold its size. */
const HEAD = 512 * 1024
/** Bytes of a page, a second of sound, a second of film where nothing else is known. */
const PAGE = 60_000
const SOUND = 16_000
const FILM = 250_000

/** About how many tokens a medium is to an upstream of the format; text in it is counted elsewhere. */
export function mediaTokens(part: MediaPart, format: Format): number {
  const prices = tokenPrices(format).media
  if (part.source.type === 'text') return 0
  if (part.kind === 'image') return Math.ceil(pictureTokens(part, prices))
  const size = bytesOf(part)
  if (part.kind === 'audio') return Math.ceil(((size ?? 60 * SOUND) / SOUND) * prices.soundSecond)
  if (part.kind === 'video') return Math.ceil(((size ?? 60 * FILM) / FILM) * prices.filmSecond)
  return pagesOf(part, size) * prices.page
}

function pictureTokens(part: MediaPart, prices: MediaPrices): number {
  if (part.detail === 'low' && prices.lowDetail !== undefined) return prices.lowDetail
  const head = beginningOf(part, HEAD)
  const size = head === undefined ? undefined : sizeOf(head)
  return size === undefined ? prices.unseen : Math.max(1, prices.picture(size))
}

/** Pages of a PDF are typed objects, unless they are compressed; then its size decides. */
function pagesOf(part: MediaPart, size: number | undefined): number {
  const bytes = beginningOf(part, LOOKED_AT)
  if (bytes === undefined || size === undefined) return 1
  const marked = bytes.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
  const pages = marked * Math.max(1, size / LOOKED_AT)
  return Math.max(1, Math.ceil(marked > 0 ? pages : size / PAGE))
}

/* What is counted comes as JSON, so media that are here are base64, and never bytes. */

const bytesOf = ({ source }: MediaPart): number | undefined =>
  source.type === 'base64' ? Math.floor((source.data.length * 3) / 4) : undefined

/** The first bytes of a medium that is here. */
const beginningOf = ({ source }: MediaPart, length: number): Buffer | undefined =>
  source.type === 'base64' ? Buffer.from(source.data.slice(0, Math.ceil((length * 4) / 3)), 'base64') : undefined
