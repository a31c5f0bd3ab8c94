import { randomBytes } from 'node:crypto'
import {
  imageTypeOf,
  json,
  type Loose,
  onlyKnown,
  phaseOf,
  progressOf,
  Refusal,
  type Reply,
  type Seen,
  type Step,
  type Task,
  VideoUpstream,
} from './upstream.ts'

export const OPENAI_KEY = 'sk-upstream-openai-0123456789'

const SECONDS = ['4', '8', '12']
const SIZES = ['720x1280', '1280x720', '1024x1792', '1792x1024']
const STATUS = {
  queued: 'queued',
  running: 'in_progress',
  completed: 'completed',
  review: 'failed',
  broken: 'failed',
  silent: 'failed',
} as const

/** A strict model of OpenAI's `/v1/videos` (docs/wire/videos.md#openai): checks fields, values and the key. */
export class OpenAIVideos extends VideoUpstream {
  /** If set, `content` redirects to a storage at this origin. */
  storage: string | undefined
  /** Characters appended to every id. */
  idSuffix = ''

  protected newId(): string {
    return `video_${randomBytes(12).toString('hex')}${this.idSuffix}`
  }

  protected stepOf(method: string, { pathname }: URL): Step {
    const [, path] = /^\/v1\/videos(?:\/(.+))?$/.exec(pathname) ?? [undefined, 'elsewhere/elsewhere']
    if (path === undefined) return method === 'POST' ? 'submit' : method === 'GET' ? 'list' : 'unknown'
    const [, action, ...more] = path.split('/')
    if (more.length > 0) return 'unknown'
    if (action === undefined) return method === 'DELETE' ? 'remove' : method === 'GET' ? 'poll' : 'unknown'
    if (action === 'remix' && method === 'POST') return 'remix'
    return action === 'content' && (method === 'GET' || method === 'HEAD') ? 'content' : 'unknown'
  }

  protected authorize({ headers }: Seen): void {
    if (headers.authorization !== `Bearer ${OPENAI_KEY}`)
      throw new Refusal(401, 'invalid_api_key', 'Incorrect API key provided.')
  }

  protected refusal({ status, code, message }: Refusal): unknown {
    const type = status === 401 ? 'authentication_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message, type, param: null, code } }
  }

  protected serve(seen: Seen): Reply {
    const { step, url } = seen
    if (step === 'submit') return json(shown(this.make(this.checked(seen))))
    if (step === 'list') return this.list(url)
    if (step === 'unknown') throw new Refusal(404, 'not_found', `Invalid URL (${seen.method} ${url.pathname})`)
    const task = this.tasks.get(decodeURIComponent(url.pathname.split('/')[3]!))
    if (task === undefined) throw new Refusal(404, 'not_found', 'Video with id was not found.')
    if (step === 'remove') return this.remove(task)
    if (step === 'remix') return this.remix(task, seen)
    if (step === 'content') return this.content(task, url)
    this.poll(task)
    return json(shown(task))
  }

  private checked({ body, files, headers }: Seen): Loose {
    const form = headers['content-type']!.startsWith('multipart/form-data')
    if (body === undefined || typeof body !== 'object') throw new Refusal(400, 'invalid_json', 'The body is not JSON.')
    const inBrackets = form ? ['input_reference[image_url]', 'input_reference[file_id]'] : []
    onlyKnown(body, ['model', 'prompt', 'seconds', 'size', 'input_reference', ...inBrackets], 'unknown_parameter')
    if (typeof body.prompt !== 'string' || body.prompt === '')
      throw new Refusal(400, 'missing_required_parameter', "Missing required parameter: 'prompt'.")
    if (body.model !== undefined && typeof body.model !== 'string')
      throw new Refusal(400, 'invalid_type', "Invalid type for 'model'.")
    if (body.seconds !== undefined && !SECONDS.includes(body.seconds))
      throw new Refusal(400, 'invalid_value', "Invalid value for 'seconds'.")
    if (body.size !== undefined && !SIZES.includes(body.size))
      throw new Refusal(400, 'invalid_value', "Invalid value for 'size'.")
    if (form && body.input_reference !== undefined)
      throw new Refusal(400, 'invalid_type', "'input_reference' must be a file.")
    if (!form && body.input_reference !== undefined)
      onlyKnown(body.input_reference, ['file_id', 'image_url'], 'unknown_parameter', 'input_reference.')
    for (const { field, mediaType, bytes } of files) {
      if (field !== 'input_reference') throw new Refusal(400, 'unknown_parameter', `Unknown parameter: '${field}'.`)
      if (imageTypeOf(bytes) !== mediaType)
        throw new Refusal(400, 'invalid_image', `Unsupported mimetype ('${mediaType}').`)
    }
    return body
  }

  private remix(task: Task, { body }: Seen): Reply {
    onlyKnown(body ?? {}, ['prompt'], 'unknown_parameter')
    if (typeof body?.prompt !== 'string')
      throw new Refusal(400, 'missing_required_parameter', "Missing required parameter: 'prompt'.")
    if (phaseOf(task) !== 'completed') throw new Refusal(400, 'invalid_request', 'Video is not ready to be remixed.')
    const { model, seconds, size } = task.body
    return json(shown(this.make({ model, seconds, size, ...body }, { remixOf: task.id })))
  }

  private remove(task: Task): Reply {
    this.tasks.delete(task.id)
    return json({ id: task.id, object: 'video.deleted', deleted: true })
  }

  private content(task: Task, url: URL): Reply {
    const variant = url.searchParams.get('variant') ?? 'video'
    if (!['video', 'thumbnail', 'spritesheet'].includes(variant))
      throw new Refusal(400, 'invalid_value', "Invalid value for 'variant'.")
    if (phaseOf(task) !== 'completed')
      throw new Refusal(404, 'not_found', 'Video is not ready yet, use GET /v1/videos/{video_id} to check status.')
    if (task.expired) throw new Refusal(404, 'not_found', 'The content of this video is no longer available.')
    if (this.storage !== undefined)
      return { redirect: `${this.storage}/stored/${task.id}?variant=${variant}&sig=abc%2Fdef` }
    return this.clipOf(task, variant === 'video' ? 'video/mp4' : variant === 'thumbnail' ? 'image/webp' : 'image/jpeg')
  }

  private list({ searchParams }: URL): Reply {
    const all = [...this.tasks.values()]
    if (searchParams.get('order') !== 'asc') all.reverse()
    const from = all.findIndex(({ id }) => id === searchParams.get('after')) + 1
    const limit = Number(searchParams.get('limit') ?? 20)
    const data = all.slice(from, from + limit)
    return json({
      object: 'list',
      data: data.map(shown),
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: from + limit < all.length,
    })
  }
}

const ERRORS = {
  review: { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' },
  broken: { code: 'video_generation_failed', message: 'Video generation failed.' },
  silent: null,
} as const

/** The video object of a task. */
function shown(task: Task): Loose {
  const phase = phaseOf(task)
  const created = Math.floor(task.createdAt / 1000)
  const done = phase === 'completed'
  return {
    id: task.id,
    object: 'video',
    model: task.body.model ?? 'sora-2',
    status: STATUS[phase],
    progress: done ? 100 : phase === 'running' ? progressOf(task) : 0,
    created_at: created,
    completed_at: done ? created + 60 : null,
    expires_at: done ? created + 86_400 : null,
    prompt: task.body.prompt,
    seconds: task.body.seconds ?? '4',
    size: task.body.size ?? '720x1280',
    remixed_from_video_id: task.remixOf ?? null,
    error: phase === 'review' || phase === 'broken' ? ERRORS[phase] : null,
  }
}
