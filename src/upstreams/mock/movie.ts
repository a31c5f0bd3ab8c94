import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { nearestRatio } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { BUILT_IN_FIXTURES } from './fixtures.ts'

/** The size and length of a recorded video. */
export interface Movie {
  /** Size in pixels, such as `1280x720`. */
  readonly size: string
  readonly seconds: number
}

const FOLDER = join(BUILT_IN_FIXTURES, 'videos')

/** The videos in the folder of fixtures, `<size>-<seconds>s.mp4`. */
const recorded = (): readonly Movie[] =>
  readdirSync(FOLDER).flatMap(file => {
    const [, size, seconds] = /^(\d+x\d+)-(\d+)s\.mp4$/.exec(file) ?? []
    return size === undefined ? [] : [{ size, seconds: Number(seconds) }]
  })

/** The length and size of a video whose request names none. */
const USUAL = { seconds: 4, size: '720x1280' } as const

/** Chooses the recorded video that is nearest to a request in shape, then in length. */
export function movieFor({ seconds, size }: JsonObject): Movie {
  const all = recorded()
  const sizes = all.map(one => one.size)
  const wanted = typeof size === 'string' ? size : USUAL.size
  const found = sizes.includes(wanted) ? wanted : (nearestRatio(wanted, sizes) ?? USUAL.size)
  const length = Number(seconds ?? USUAL.seconds) || USUAL.seconds
  const distance = (one: Movie): number => Math.abs(one.seconds - length)
  return all.filter(one => one.size === found).sort((a, b) => distance(a) - distance(b))[0]!
}

/** A video's file, or its thumbnail. */
export interface MediaFile {
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Reads the files of a video by variant. */
export const FILES: { readonly [variant: string]: ((movie: Movie) => MediaFile) | undefined } = {
  __proto__: null as never,
  video: ({ size, seconds }) => ({
    mediaType: 'video/mp4',
    bytes: readFileSync(join(FOLDER, `${size}-${seconds}s.mp4`)),
  }),
  thumbnail: ({ size }) => ({ mediaType: 'image/webp', bytes: readFileSync(join(FOLDER, `${size}.webp`)) }),
}

/** A file to download. */
export interface MockFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Answers GET and HEAD with a file, or with one requested range of it (RFC 9110 §14). */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { name, mediaType, bytes }: MockFile,
): void {
  const range = rangeOf(request.headers.range, bytes.length)
  if (range === 'none') {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
    return
  }
  const part = range === undefined ? bytes : bytes.subarray(range.begin, range.end)
  response.writeHead(range === undefined ? 200 : 206, {
    'content-type': mediaType,
    'content-length': part.length,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${name}.${mediaType.split('/')[1]}"`,
    ...(range === undefined ? {} : { 'content-range': `bytes ${range.begin}-${range.end - 1}/${bytes.length}` }),
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}

/** Parses the requested range, with an exclusive `end`. Undefined for the whole file, `none` for a range outside it. */
function rangeOf(header: string | undefined, size: number): { begin: number; end: number } | 'none' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  const begin = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return begin < end ? { begin, end } : 'none'
}
