import { randomBytes } from 'node:crypto'
import { pixelsOf } from '../../canonical/media/video-size.ts'
import { type JsonObject, parseJson } from '../../canonical/node.ts'
import type { Movie } from './movie.ts'

/** The contents of a video task's id. */
export interface TaskId {
  /** Unix ms. */
  readonly createdAt: number
  readonly model: string
  readonly movie: Movie
}

const PREFIX = 'video_replay_'
/** Characters; how much of a model's name an id contains. */
const MAX_MODEL_NAME = 100

/** Makes a unique id for a task, e.g. `video_replay_WzE3…`. */
export function writeTaskId({ createdAt, model, movie }: TaskId): string {
  const { seconds, width, height } = movie
  const fields = [createdAt, seconds, width, height, model.slice(0, MAX_MODEL_NAME), randomBytes(6).toString('hex')]
  return PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** Reads the contents of an id; undefined if `writeTaskId` did not make it. */
export function readTaskId(id: string): TaskId | undefined {
  if (!id.startsWith(PREFIX)) return undefined
  const fields = parseJson(Buffer.from(id.slice(PREFIX.length), 'base64url').toString())
  if (!Array.isArray(fields)) return undefined
  const [createdAt, seconds, width, height, model] = fields
  if (typeof createdAt !== 'number' || typeof model !== 'string') return undefined
  return { createdAt, model, movie: movieFor({ seconds: seconds ?? null, size: `${width}x${height}` }) }
}

/** The length and size of a video whose request names none. */
const USUAL = { seconds: 4, size: [720, 1280] } as const
/** s; the longest video that is made. */
const MAX_SECONDS = 20
/** Pixels; the longest side of a video. */
const MAX_SIDE = 1920

/** The video that a request describes, limited to what the mock can make. */
export function movieFor({ seconds, size }: JsonObject): Movie {
  const wanted = Math.round(Number(seconds ?? USUAL.seconds))
  const [width, height] = pixelsOf(typeof size === 'string' ? size : undefined) ?? USUAL.size
  const fits = (side: number): number => Math.min(MAX_SIDE, Math.max(32, side - (side % 2)))
  return {
    seconds: wanted >= 1 ? Math.min(MAX_SECONDS, wanted) : USUAL.seconds,
    width: fits(width),
    height: fits(height),
  }
}
