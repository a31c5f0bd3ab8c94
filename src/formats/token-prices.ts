import type { Format } from '../canonical/node.ts'

/*
 * What media cost, by the makers' published rules; models differ, so all of it is an estimate:
 * - messages: a picture is scaled to 1568 pixels at its longer edge and costs a token for every 750 of its pixels; a
 *   page of a document is a picture and its text;
 * - contents: 258 tokens for every tile of 768 pixels, 258 for a page, 32 for a second of sound, 263 of film;
 * - the others: 85 and 170 for every tile of 512 pixels, once scaled to 2048 and to 768 at its shorter edge; 10 for a
 *   second of sound.
 */

/** What media cost in tokens. */
export interface MediaPrices {
  picture(size: Size): number
  /** A picture of unknown size: at an address, or stored upstream. */
  readonly unseen: number
  readonly page: number
  readonly soundSecond: number
  readonly filmSecond: number
  /** A picture in low detail, where the maker has such a price. */
  readonly lowDetail?: number
}

const MESSAGES: MediaPrices = {
  picture: size => area(scaled(size, 1568)) / 750,
  unseen: 1600,
  page: 2500,
  soundSecond: 32,
  filmSecond: 300,
}

const CONTENTS: MediaPrices = {
  picture: size => (Math.max(size.width, size.height) <= 384 ? 258 : 258 * tiles(scaled(size, 3072), 768)),
  unseen: 1032,
  page: 258,
  soundSecond: 32,
  filmSecond: 263,
}

const OTHERS: MediaPrices = {
  picture: size => 85 + 170 * tiles(shortened(scaled(size, 2048), 768), 512),
  unseen: 765,
  page: 1500,
  soundSecond: 10,
  filmSecond: 300,
  lowDetail: 85,
}

/** How the makers behind a format count tokens, as an estimate. */
export interface TokenPrices {
  readonly media: MediaPrices
  /** Tokens they have for one of the vocabulary that is counted by, taken rather high. */
  readonly factor: number
  /** Tokens that they write before tools. */
  readonly toolsPreamble: number
}

const PRICES: ReadonlyMap<Format, TokenPrices> = new Map([
  ['messages', { media: MESSAGES, factor: 1.2, toolsPreamble: 300 }],
  ['contents', { media: CONTENTS, factor: 1.05, toolsPreamble: 0 }],
])

const USUAL: TokenPrices = { media: OTHERS, factor: 1, toolsPreamble: 0 }

/** How the makers behind a format count tokens. */
export const tokenPrices = (format: Format): TokenPrices => PRICES.get(format) ?? USUAL

/** The format whose makers count the most tokens. */
export const DEAREST_FORMAT: Format = [...PRICES].reduce((a, b) => (b[1].factor > a[1].factor ? b : a))[0]

/** Width and height in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

const area = ({ width, height }: Size): number => width * height

const tiles = ({ width, height }: Size, edge: number): number => Math.ceil(width / edge) * Math.ceil(height / edge)

/** As it is, or so that its longer edge is `most`. */
const scaled = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.max(size.width, size.height)))

/** As it is, or so that its shorter edge is `most`. */
const shortened = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.min(size.width, size.height)))

const times = ({ width, height }: Size, factor: number): Size => ({ width: width * factor, height: height * factor })
