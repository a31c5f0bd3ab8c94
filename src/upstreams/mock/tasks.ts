import { randomBytes } from 'node:crypto'
import { pixelsOf } from '../../canonical/media/video-size.ts'
import { type JsonObject, parseJson } from '../../canonical/node.ts'
import type { Movie } from './movie.ts'

/** What the id of a built-in video task holds. */
export interface TaskId {
  /** Unix time in ms. */
  readonly createdAt: number
  readonly model: string
  readonly movie: Movie
}

const PREFIX = 'video_replay_'
/** Characters of a model's name that an id holds. */
const LONGEST = 100

/** An id of its own for a task, e.g. `video_replay_WzE3…`. */
export function writeTaskId({ createdAt, model, movie }: TaskId): string {
  const { seconds, width, height } = movie
  const fields = [createdAt, seconds, width, height, model.slice(0, LONGEST), randomBytes(6).toString('hex')]
  return PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** What an id holds; undefined where it is none that `writeTaskId` makes. */
export function readTaskId(id: string): TaskId | undefined {
  if (!id.startsWith(PREFIX)) return undefined
  const fields = parseJson(Buffer.from(id.slice(PREFIX.length), 'base64url').toString())
  if (!Array.isArray(fields)) return undefined
  const [createdAt, seconds, width, height, model] = fields
  if (typeof createdAt !== 'number' || typeof model !== 'string') return undefined
  return { createdAt, model, movie: movieFor({ seconds: seconds ?? null, size: `${width}x${height}` }) }
}

const USUAL = { seconds: 4, size: [720, 1280] } as const
/** The most seconds, and samples in a row, that are made. */
const LONGEST_MOVIE = 20
const LARGEST = 1920

/** The movie that a request describes, within the bounds of what is made. */
export function movieFor({ seconds, size }: JsonObject): Movie {
  const wanted = Math.round(Number(seconds ?? USUAL.seconds))
  const [width, height] = pixelsOf(typeof size === 'string' ? size : undefined) ?? USUAL.size
  const fits = (side: number): number => Math.min(LARGEST, Math.max(32, side - (side % 2)))
  return {
    seconds: wanted >= 1 ? Math.min(LONGEST_MOVIE, wanted) : USUAL.seconds,
    width: fits(width),
    height: fits(height),
  }
}
