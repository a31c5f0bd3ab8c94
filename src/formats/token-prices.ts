import type { Format } from '../canonical/node.ts'

/*
 * Token counts of media according to the vendors' published rules. Models differ, so every number is an estimate.
 *
 * - messages: an image is scaled to 1568 pixels at its longer edge and costs one token per 750 pixels; a page of a
 *   document costs an image and its text.
 * - contents: 258 tokens per tile of 768 pixels, 258 per page, 32 per second of audio, 263 per second of video.
 * - other formats: 85, and 170 per tile of 512 pixels after scaling to 2048 and to 768 at the shorter edge; 10 per
 *   second of audio.
 */

/** Estimated tokens of media in a request. */
export interface MediaPrices {
  image(size: Size): number
  /** An image of unknown size: at a URL, or stored at the upstream. */
  readonly unknownImage: number
  readonly page: number
  readonly audioSecond: number
  readonly videoSecond: number
  /** An image in low detail, if the vendor has a separate price for it. */
  readonly lowDetail?: number
}

const MESSAGES: MediaPrices = {
  image: size => area(scaled(size, 1568)) / 750,
  unknownImage: 1600,
  page: 2500,
  audioSecond: 32,
  videoSecond: 300,
}

const CONTENTS: MediaPrices = {
  image: size => (Math.max(size.width, size.height) <= 384 ? 258 : 258 * tiles(scaled(size, 3072), 768)),
  unknownImage: 1032,
  page: 258,
  audioSecond: 32,
  videoSecond: 263,
}

const OTHERS: MediaPrices = {
  image: size => 85 + 170 * tiles(shortened(scaled(size, 2048), 768), 512),
  unknownImage: 765,
  page: 1500,
  audioSecond: 10,
  videoSecond: 300,
  lowDetail: 85,
}

/** Estimates for token counting by a format's vendors. */
export interface TokenPrices {
  readonly media: MediaPrices
  /** High estimate of the number of vendor tokens per token in the gateway's own count. */
  readonly factor: number
  /** Number of tokens that the vendor adds to a request with tools. */
  readonly toolsPreamble: number
}

const PRICES: ReadonlyMap<Format, TokenPrices> = new Map([
  ['messages', { media: MESSAGES, factor: 1.2, toolsPreamble: 300 }],
  ['contents', { media: CONTENTS, factor: 1.05, toolsPreamble: 0 }],
])

const DEFAULT_PRICES: TokenPrices = { media: OTHERS, factor: 1, toolsPreamble: 0 }

/** Returns the token estimates for a format. */
export const tokenPrices = (format: Format): TokenPrices => PRICES.get(format) ?? DEFAULT_PRICES

/** The format whose vendors count the most tokens. */
export const MOST_EXPENSIVE_FORMAT: Format = [...PRICES].reduce((a, b) => (b[1].factor > a[1].factor ? b : a))[0]

/** A width and a height in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

const area = ({ width, height }: Size): number => width * height

const tiles = ({ width, height }: Size, edge: number): number => Math.ceil(width / edge) * Math.ceil(height / edge)

/** Scales a size down so that its longer edge is at most `most`. */
const scaled = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.max(size.width, size.height)))

/** Scales a size down so that its shorter edge is at most `most`. */
const shortened = (size: Size, most: number): Size => times(size, Math.min(1, most / Math.min(size.width, size.height)))

const times = ({ width, height }: Size, factor: number): Size => ({ width: width * factor, height: height * factor })
