import type { MediaPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import { type Size, sizeOf } from './picture-size.ts'

/*
 * What media cost, by the makers' published rules; models differ, so all of it is an estimate:
 * - messages: a picture is scaled to 1568 pixels at its longer edge and costs a token for every 750 of its pixels; a
 *   page of a document is a picture and its text;
 * - contents: 258 tokens for every tile of 768 pixels, 258 for a page, 32 for a second of sound, 263 of film;
 * - the others: 85 and 170 for every tile of 512 pixels, once scaled to 2048 and to 768 at its shorter edge; 10 for a
 *   second of sound.
 */

interface Prices {
  picture(size: Size): number
  /** A picture nobody can measure from here: one at an address, or kept upstream. */
  readonly unseen: number
  readonly page: number
  readonly soundSecond: number
  readonly filmSecond: number
}

const MESSAGES: Prices = {
  picture: size => area(scaled(size, 1568)) / 750,
  unseen: 1600,
  page: 2500,
  soundSecond: 32,
  filmSecond: 300,
}

const CONTENTS: Prices = {
  picture: size => (Math.max(size.width, size.height) <= 384 ? 258 : 258 * tiles(scaled(size, 3072), 768)),
  unseen: 1032,
  page: 258,
  soundSecond: 32,
  filmSecond: 263,
}

const OTHERS: Prices = {
  picture: size => 85 + 170 * tiles(shortened(scaled(size, 2048), 768), 512),
  unseen: 765,
  page: 1500,
  soundSecond: 10,
  filmSecond: 300,
}

const PRICES: { readonly [format: Format]: Prices } = { messages: MESSAGES, contents: CONTENTS }

/** What a picture costs that is only glanced at, where the format knows that. */
const GLANCE = 85
/** Bytes of a medium that are looked at: heads of pictures, marks of pages. */
const LOOKED_AT = 8 * 1024 * 1024
/** Bytes in which a picture that is a JPEG tells its size. */
const HEAD = 512 * 1024
/** Bytes of a page, a second of sound, a second of film where nothing tells more. */
const PAGE = 60_000
const SOUND = 16_000
const FILM = 250_000

/** About how many tokens a medium is to an upstream of the format; text in it is counted elsewhere. */
export function mediaTokens(part: MediaPart, format: Format): number {
  const prices = PRICES[format] ?? OTHERS
  if (part.source.type === 'text') return 0
  if (part.kind === 'image') return Math.ceil(pictureTokens(part, prices))
  const size = bytesOf(part)
  if (part.kind === 'audio') return Math.ceil(((size ?? 60 * SOUND) / SOUND) * prices.soundSecond)
  if (part.kind === 'video') return Math.ceil(((size ?? 60 * FILM) / FILM) * prices.filmSecond)
  return pagesOf(part, size) * prices.page
}

function pictureTokens(part: MediaPart, prices: Prices): number {
  if (part.detail === 'low' && prices === OTHERS) return GLANCE
  const head = beginningOf(part, HEAD)
  const size = head === undefined ? undefined : sizeOf(head)
  return size === undefined ? prices.unseen : Math.max(1, prices.picture(size))
}

/** Every page of a PDF is an object that says so, unless they are packed; then its size has to tell. */
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

const area = ({ width, height }: Size): number => width * height

const tiles = ({ width, height }: Size, edge: number): number => Math.ceil(width / edge) * Math.ceil(height / edge)

/** As it is, or so that its longer edge is `most`. */
const scaled = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.max(size.width, size.height)))

/** As it is, or so that its shorter edge is `most`. */
const shortened = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.min(size.width, size.height)))

const times = ({ width, height }: Size, factor: number): Size => ({ width: width * factor, height: height * factor })
