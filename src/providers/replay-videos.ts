import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pixelsOf } from '../canonical/media/video-size.ts'
import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import type { Case } from './fixtures.ts'
import { pick } from './pick.ts'
import { sendFile } from './replay-file.ts'
import { type Movie, movieOf, thumbnailOf } from './replay-movie.ts'

const FORMAT = 'videos'
/** Tasks that are remembered; the oldest go first. */
const MOST = 1000
/** Questions about a task that find it queued, and those that find it in progress. */
const QUEUED = 2
const PROGRESS = [20, 45, 70, 90] as const
/** Seconds for which the files of a finished task are announced to stay. */
const KEPT = 86_400

interface Task {
  readonly id: string
  readonly createdAt: number
  readonly body: JsonObject
  readonly movie: Movie
  readonly remixOf?: string
  /** Why it fails, where it does. */
  readonly error?: JsonObject
  polls: number
  completedAt?: number
}

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

/**
 * Videos as OpenAI's upstream has them (FORMATS §11), played through: a task is queued at its first polls, then
 * in progress, then completed with a video of the project's own making; one whose fixture failed fails as that did.
 */
export class ReplayVideos {
  private readonly cases: readonly Case[]
  private readonly tasks = new Map<string, Task>()

  constructor(cases: readonly Case[]) {
    this.cases = cases.filter(({ format }) => format === FORMAT)
  }

  /** Answers a request about videos; false for any other. */
  answer(request: IncomingMessage, url: URL, body: JsonObject, response: ServerResponse): boolean {
    const [, id, action] = /^\/v1\/videos(?:\/([^/]+)(?:\/(content|remix))?)?$/.exec(url.pathname) ?? []
    if (!/^\/v1\/videos(?:\/|$)/.test(url.pathname)) return false
    const { method = 'GET' } = request
    const task = id === undefined ? undefined : this.tasks.get(percentDecoded(id))
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
    if (action === undefined && method === 'GET') return { status: 200, body: this.next(task) }
    if (action === undefined && method === 'DELETE') return this.remove(task)
    return fault(405, 'method_not_allowed', `${method} is not done here.`)
  }

  private submit(body: JsonObject): Answer {
    if (!isFilled(body['prompt'])) return NO_PROMPT
    const model = typeof body['model'] === 'string' ? body['model'] : ''
    const found = pick(this.cases, { format: FORMAT, model, stream: false, body })
    const failure = found?.result?.['status'] === 'failed' ? found.result['error'] : undefined
    return { status: 200, body: shown(this.add(body, isObject(failure) ? { error: failure } : {})) }
  }

  private remix(task: Task, body: JsonObject): Answer {
    if (!isFilled(body['prompt'])) return NO_PROMPT
    if (task.completedAt === undefined) return fault(400, 'invalid_value', 'Only a completed video can be remixed.')
    const remixed = this.add({ ...task.body, prompt: body['prompt']! }, { remixOf: task.id })
    return { status: 200, body: shown(remixed) }
  }

  private remove(task: Task): Answer {
    this.tasks.delete(task.id)
    return { status: 200, body: { id: task.id, object: 'video.deleted', deleted: true } }
  }

  private list(query: URLSearchParams): Answer {
    const all = [...this.tasks.values()]
    if (query.get('order') !== 'asc') all.reverse()
    const begin = all.findIndex(({ id }) => id === query.get('after')) + 1
    const limit = Math.min(100, Math.max(1, Number(query.get('limit')) || 20))
    const data = all.slice(begin, begin + limit).map(shown)
    const ends = { first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null }
    return { status: 200, body: { object: 'list', data, ...ends, has_more: begin + limit < all.length } }
  }

  private content(task: Task, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const variant = query.get('variant') ?? 'video'
    const make = FILES[variant]
    if (task.completedAt === undefined) send(response, fault(404, 'not_found', 'The video is not finished.'))
    else if (make === undefined) send(response, fault(400, 'invalid_value', `There is no ${variant} of a video here.`))
    else sendFile(request, response, { name: task.id, ...make(task.movie) })
  }

  private add(body: JsonObject, about: Pick<Task, 'error' | 'remixOf'>): Task {
    const [oldest] = this.tasks.keys()
    if (oldest !== undefined && this.tasks.size >= MOST) this.tasks.delete(oldest)
    const id = `video_replay${randomBytes(12).toString('hex')}`
    const task = { id, createdAt: now(), body, movie: movieFor(body), polls: 0, ...about }
    this.tasks.set(id, task)
    return task
  }

  /** The task at its next poll. */
  private next(task: Task): JsonObject {
    task.polls++
    if (stateOf(task) === 'completed') task.completedAt ??= now()
    return shown(task)
  }
}

interface About {
  readonly id: string | undefined
  readonly action: string | undefined
  readonly task: Task | undefined
  readonly body: JsonObject
  readonly url: URL
}

const FILES: { readonly [variant: string]: ((movie: Movie) => { mediaType: string; bytes: Buffer }) | undefined } = {
  __proto__: null as never,
  video: movie => ({ mediaType: 'video/mp4', bytes: movieOf(movie) }),
  thumbnail: movie => ({ mediaType: 'image/webp', bytes: thumbnailOf(movie) }),
}

const now = (): number => Math.floor(Date.now() / 1000)
const isFilled = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

const USUAL = { seconds: 4, size: [720, 1280] } as const
/** The most seconds, and samples in a row, that are made. */
const LONGEST = 20
const LARGEST = 1920

function movieFor({ seconds, size }: JsonObject): Movie {
  const wanted = Math.round(Number(seconds ?? USUAL.seconds))
  const [width, height] = pixelsOf(typeof size === 'string' ? size : undefined) ?? USUAL.size
  const fits = (side: number): number => Math.min(LARGEST, Math.max(32, side - (side % 2)))
  return {
    seconds: wanted >= 1 ? Math.min(LONGEST, wanted) : USUAL.seconds,
    width: fits(width),
    height: fits(height),
  }
}

function stateOf({ polls, error }: Task): 'queued' | 'in_progress' | 'completed' | 'failed' {
  if (polls <= QUEUED) return 'queued'
  // A review of content does not wait for the end.
  if (error !== undefined) return polls <= QUEUED + 1 ? 'in_progress' : 'failed'
  return polls <= QUEUED + PROGRESS.length ? 'in_progress' : 'completed'
}

function shown(task: Task): JsonObject {
  const status = stateOf(task)
  const { body, movie, completedAt } = task
  return {
    id: task.id,
    object: 'video',
    model: body['model'] ?? 'replay',
    status,
    progress: status === 'completed' ? 100 : status === 'in_progress' ? PROGRESS[task.polls - QUEUED - 1]! : 0,
    created_at: task.createdAt,
    completed_at: completedAt ?? null,
    expires_at: completedAt === undefined ? null : completedAt + KEPT,
    prompt: body['prompt']!,
    seconds: String(movie.seconds),
    size: `${movie.width}x${movie.height}`,
    remixed_from_video_id: task.remixOf ?? null,
    error: status === 'failed' ? (task.error ?? null) : null,
  }
}

const fault = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code } },
})
const NO_PROMPT = fault(400, 'missing_required_parameter', "Missing required parameter: 'prompt'.")

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
