import type { Format } from '../canonical/node.ts'

/*
 * Token counts of media according to the vendors' published rules. Models differ, so every number is an estimate.
 *
 * - messages: an image is scaled to 1568 pixels at its longer edge and costs one token per 750 pixels; a page of a
 *   document costs an image and its text.
 * - contents: 258 tokens per tile of 768 pixels, 258 per page, 32 per second of audio, 263 per second of video.
 * - other formats: 85 tokens plus 170 per 512-pixel tile, after scaling the longer edge down to 2048 pixels and then the
 *   shorter edge to 768; 10 per second of audio.
 */

/** Estimated tokens of media in a request. */
export interface MediaEstimates {
  image(size: Size): number
  /** Tokens of an image of unknown size: at a URL, or stored at the upstream. */
  readonly unknownImage: number
  readonly page: number
  readonly audioSecond: number
  readonly videoSecond: number
  /** Tokens of an image in low detail, if the vendor counts those separately. */
  readonly lowDetail?: number
}

const MESSAGES: MediaEstimates = {
  image: size => area(scaledToLongerEdge(size, 1568)) / 750,
  unknownImage: 1600,
  page: 2500,
  audioSecond: 32,
  videoSecond: 300,
}

const CONTENTS: MediaEstimates = {
  image: size => (Math.max(size.width, size.height) <= 384 ? 258 : 258 * tiles(scaledToLongerEdge(size, 3072), 768)),
  unknownImage: 1032,
  page: 258,
  audioSecond: 32,
  videoSecond: 263,
}

const OTHERS: MediaEstimates = {
  image: size => 85 + 170 * tiles(scaledToShorterEdge(scaledToLongerEdge(size, 2048), 768), 512),
  unknownImage: 765,
  page: 1500,
  audioSecond: 10,
  videoSecond: 300,
  lowDetail: 85,
}

/** Estimates for token counting by a format's vendors. */
export interface TokenEstimates {
  readonly media: MediaEstimates
  /** High estimate of the number of vendor tokens per token in the gateway's own count. */
  readonly factor: number
  /** Number of tokens that the vendor adds to a request with tools. */
  readonly toolsPreamble: number
}

const ESTIMATES: ReadonlyMap<Format, TokenEstimates> = new Map([
  ['messages', { media: MESSAGES, factor: 1.2, toolsPreamble: 300 }],
  ['contents', { media: CONTENTS, factor: 1.05, toolsPreamble: 0 }],
])

const DEFAULT_ESTIMATES: TokenEstimates = { media: OTHERS, factor: 1, toolsPreamble: 0 }

/** Returns the token estimates for a format. */
export const tokenEstimates = (format: Format): TokenEstimates => ESTIMATES.get(format) ?? DEFAULT_ESTIMATES

/** The format whose vendors count the most tokens. */
export const MOST_EXPENSIVE_FORMAT: Format = [...ESTIMATES].reduce((a, b) => (b[1].factor > a[1].factor ? b : a))[0]

/** A width and a height in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

const area = ({ width, height }: Size): number => width * height

const tiles = ({ width, height }: Size, edge: number): number => Math.ceil(width / edge) * Math.ceil(height / edge)

/** Scales a size down so that its longer edge is at most `maxEdge`. */
const scaledToLongerEdge = (size: Size, maxEdge: number): Size =>
  scaledBy(size, Math.min(1, maxEdge / Math.max(size.width, size.height)))

/** Scales a size down so that its shorter edge is at most `maxEdge`. */
const scaledToShorterEdge = (size: Size, maxEdge: number): Size =>
  scaledBy(size, Math.min(1, maxEdge / Math.min(size.width, size.height)))

const scaledBy = ({ width, height }: Size, factor: number): Size => ({ width: width * factor, height: height * factor })
