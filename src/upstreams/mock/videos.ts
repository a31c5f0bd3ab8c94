import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject, type Json, type JsonObject, parseJson } from '../../canonical/node.ts'
import { percentDecoded } from '../../canonical/text.ts'
import type { Case } from './fixtures.ts'
import { FILES, type Movie, movieFor, sendFile } from './movie.ts'
import { pick } from './pick.ts'

const FORMAT = 'videos'
/** Maximum number of tasks that are listed, and of deleted tasks that are remembered. The oldest are dropped. */
const MAX_TASKS = 1000
/**
 * When a task starts and ends, in milliseconds after its creation. A client that polls every second sees every state.
 */
const BEGINS = 900
const ENDS = 2800
/** How long the files of a finished task are said to be available, in seconds. */
const EXPIRES_AFTER = 86_400

interface Task extends TaskId {
  readonly id: string
  /** Prompt. Undefined if another process created the task. */
  readonly prompt?: Json
  readonly remixOf?: string
}

type State = 'queued' | 'in_progress' | 'completed' | 'failed'

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

/**
 * Video tasks of the mock in OpenAI's format, finished within three seconds. A task is queued, in progress, then
 * completed with a recorded video, or failed if its fixture failed. A task's id contains everything that its state
 * depends on, so that every process gives the same answer, even after a restart.
 */
export class MockVideos {
  private readonly cases: readonly Case[]
  /** Tasks that this process made. */
  private readonly tasks = new Map<string, Task>()
  private readonly deleted = new Set<string>()
  /** Returns the Unix time in milliseconds. */
  private readonly now: () => number

  constructor(cases: readonly Case[], now: () => number = Date.now) {
    this.cases = cases.filter(({ format }) => format === FORMAT)
    this.now = now
  }

  /** Answers a request about videos. Returns false for any other request. */
  answer(request: IncomingMessage, url: URL, body: JsonObject, response: ServerResponse): boolean {
    const [, id, action] = /^\/v1\/videos(?:\/([^/]+)(?:\/(content|remix))?)?$/.exec(url.pathname) ?? []
    if (!/^\/v1\/videos(?:\/|$)/.test(url.pathname)) return false
    const { method = 'GET' } = request
    const task = id === undefined ? undefined : this.find(percentDecoded(id))
    if (action === 'content' && task !== undefined && (method === 'GET' || method === 'HEAD'))
      this.content(task, url.searchParams, request, response)
    else send(response, this.about(method, { id, action, task, body, url }))
    return true
  }

  private about(method: string, { id, action, task, body, url }: About): Answer {
    if (id === undefined && method === 'POST') return this.submit(body)
    if (id === undefined && method === 'GET' && url.pathname === '/v1/videos') return this.list(url.searchParams)
    if (task === undefined) return fault(404, 'not_found', 'There is no such video here.')
    if (action === 'remix' && method === 'POST') return this.remix(task, body)
    if (action === undefined && method === 'GET') return { status: 200, body: this.taskBody(task) }
    if (action === undefined && method === 'DELETE') return this.remove(task)
    return fault(405, 'method_not_allowed', `${method} is not supported here.`)
  }

  private submit(body: JsonObject): Answer {
    const { prompt, model } = body
    if (!isFilled(prompt)) return NO_PROMPT
    const about = { model: typeof model === 'string' ? model : 'replay', movie: movieFor(body) }
    return { status: 200, body: this.taskBody(this.add(about, { prompt: prompt! })) }
  }

  /** Returns the task of an id. Undefined if no mock made the id, or if the task was deleted in this process. */
  private find(id: string): Task | undefined {
    if (this.deleted.has(id)) return undefined
    const read = readTaskId(id)
    return this.tasks.get(id) ?? (read && { id, ...read })
  }

  /** Returns the error with which a task fails. Undefined if it succeeds. */
  private failureOf({ model }: Task): JsonObject | undefined {
    const found = pick(this.cases, { format: FORMAT, model, stream: false, body: { model } })
    const error = found?.result?.['status'] === 'failed' ? found.result['error'] : undefined
    return isObject(error) ? error : undefined
  }

  private stateOf(task: Task): State {
    const age = this.now() - task.createdAt
    if (age < BEGINS) return 'queued'
    // A content review fails a task before its end.
    if (this.failureOf(task) !== undefined) return age < (BEGINS + ENDS) / 2 ? 'in_progress' : 'failed'
    return age < ENDS ? 'in_progress' : 'completed'
  }

  private remix(task: Task, body: JsonObject): Answer {
    if (!isFilled(body['prompt'])) return NO_PROMPT
    if (this.stateOf(task) !== 'completed') return fault(400, 'invalid_value', 'Only a completed video can be remixed.')
    const { model, movie } = task
    return {
      status: 200,
      body: this.taskBody(this.add({ model, movie }, { prompt: body['prompt']!, remixOf: task.id })),
    }
  }

  private remove(task: Task): Answer {
    this.tasks.delete(task.id)
    forgetOldest(this.deleted)
    this.deleted.add(task.id)
    return { status: 200, body: { id: task.id, object: 'video.deleted', deleted: true } }
  }

  private list(query: URLSearchParams): Answer {
    const all = [...this.tasks.values()]
    if (query.get('order') !== 'asc') all.reverse()
    const begin = all.findIndex(({ id }) => id === query.get('after')) + 1
    const limit = Math.min(100, Math.max(1, Number(query.get('limit')) || 20))
    const data = all.slice(begin, begin + limit).map(task => this.taskBody(task))
    const ends = { first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null }
    return { status: 200, body: { object: 'list', data, ...ends, has_more: begin + limit < all.length } }
  }

  private content(task: Task, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const variant = query.get('variant') ?? 'video'
    const read = FILES[variant]
    if (this.stateOf(task) !== 'completed') send(response, fault(404, 'not_found', 'The video is not finished.'))
    else if (read === undefined) send(response, fault(400, 'invalid_value', `There is no ${variant} of a video here.`))
    else sendFile(request, response, { name: task.id, ...read(task.movie) })
  }

  private add(about: Omit<TaskId, 'createdAt'>, more: Pick<Task, 'prompt' | 'remixOf'>): Task {
    const made = { createdAt: this.now(), ...about }
    const task = { id: writeTaskId(made), ...made, ...more }
    forgetOldest(this.tasks)
    this.tasks.set(task.id, task)
    return task
  }

  private taskBody(task: Task): JsonObject {
    const { id, createdAt, model, movie, prompt, remixOf } = task
    const status = this.stateOf(task)
    const completedAt = status === 'completed' ? seconds(createdAt + ENDS) : undefined
    const share = (this.now() - createdAt - BEGINS) / (ENDS - BEGINS)
    return {
      ...{ id, object: 'video', model, status },
      progress: status === 'completed' ? 100 : status === 'in_progress' ? 1 + Math.floor(98 * share) : 0,
      created_at: seconds(createdAt),
      completed_at: completedAt ?? null,
      expires_at: completedAt === undefined ? null : completedAt + EXPIRES_AFTER,
      ...(prompt !== undefined && { prompt }),
      seconds: String(movie.seconds),
      size: movie.size,
      remixed_from_video_id: remixOf ?? null,
      error: status === 'failed' ? (this.failureOf(task) ?? null) : null,
    }
  }
}

/** Drops the oldest entry if there is no room for one more. */
function forgetOldest(of: Map<string, unknown> | Set<string>): void {
  const [oldest] = of.keys()
  if (oldest !== undefined && of.size >= MAX_TASKS) of.delete(oldest)
}

interface About {
  readonly id: string | undefined
  readonly action: string | undefined
  readonly task: Task | undefined
  readonly body: JsonObject
  readonly url: URL
}

const seconds = (at: number): number => Math.floor(at / 1000)
const isFilled = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

const fault = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code } },
})
const NO_PROMPT = fault(400, 'missing_required_parameter', "Missing required parameter: 'prompt'.")

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The contents of a video task's id. */
export interface TaskId {
  /** Time of creation, in Unix milliseconds. */
  readonly createdAt: number
  readonly model: string
  readonly movie: Movie
}

const PREFIX = 'video_replay_'
/** Number of characters of a model's name in an id. */
const MAX_MODEL_NAME = 100

/** Creates a unique id for a task, such as `video_replay_WzE3…`. */
function writeTaskId({ createdAt, model, movie }: TaskId): string {
  const { seconds, size } = movie
  const fields = [createdAt, seconds, size, model.slice(0, MAX_MODEL_NAME), randomBytes(6).toString('hex')]
  return PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** Reads the contents of an id. Undefined if `writeTaskId` did not create it. */
function readTaskId(id: string): TaskId | undefined {
  if (!id.startsWith(PREFIX)) return undefined
  const fields = parseJson(Buffer.from(id.slice(PREFIX.length), 'base64url').toString())
  if (!Array.isArray(fields)) return undefined
  const [createdAt, seconds, size, model] = fields
  if (typeof createdAt !== 'number' || typeof model !== 'string') return undefined
  return { createdAt, model, movie: movieFor({ seconds: seconds ?? null, size: size ?? null }) }
}
