import { randomBytes } from 'node:crypto'
import { parseJson } from '../../canonical/node.ts'
import { type Movie, movieFor } from './movie.ts'

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
  const { seconds, size } = movie
  const fields = [createdAt, seconds, size, model.slice(0, MAX_MODEL_NAME), randomBytes(6).toString('hex')]
  return PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** Reads the contents of an id; undefined if `writeTaskId` did not make it. */
export function readTaskId(id: string): TaskId | undefined {
  if (!id.startsWith(PREFIX)) return undefined
  const fields = parseJson(Buffer.from(id.slice(PREFIX.length), 'base64url').toString())
  if (!Array.isArray(fields)) return undefined
  const [createdAt, seconds, size, model] = fields
  if (typeof createdAt !== 'number' || typeof model !== 'string') return undefined
  return { createdAt, model, movie: movieFor({ seconds: seconds ?? null, size: size ?? null }) }
}
