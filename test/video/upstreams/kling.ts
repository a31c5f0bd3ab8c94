import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  imageTypeOf,
  json,
  type Loose,
  onlyKnown,
  phaseOf,
  Refusal,
  type Reply,
  type Seen,
  type Step,
  type Task,
  VideoUpstream,
} from './upstream.ts'

export const KLING_ACCESS = 'AkUpstreamKling0123456789'
export const KLING_SECRET = 'SkUpstreamKling9876543210'
/** The key of a channel. */
export const KLING_KEY = `${KLING_ACCESS}:${KLING_SECRET}`

const COMMON = [
  'model_name',
  'prompt',
  'negative_prompt',
  'cfg_scale',
  'mode',
  'sound',
  'camera_control',
  'duration',
  'watermark_info',
  'callback_url',
  'external_task_id',
]
const TEXT = [...COMMON, 'aspect_ratio']
const IMAGE = [...COMMON, 'image', 'image_tail', 'static_mask', 'dynamic_masks', 'aspect_ratio']
const STATUS = {
  queued: 'submitted',
  running: 'processing',
  completed: 'succeed',
  review: 'failed',
  broken: 'failed',
  silent: 'failed',
} as const
const MESSAGES = {
  review: 'Failure to pass the risk control system',
  broken: 'Internal server error, please try again',
  silent: '',
} as const

/** A strict model of Kling's `/v1/videos/text2video` and `image2video`: checks the token, fields and values. */
export class KlingVideos extends VideoUpstream {
  /** Origin of the URLs of finished videos. */
  storage = 'http://storage.invalid'
  /** Number of videos of a finished task. */
  samples = 1

  protected newId(): string {
    return String(BigInt(`0x${randomBytes(8).toString('hex')}`) % 10n ** 18n).padStart(18, '8')
  }

  protected stepOf(method: string, { pathname }: URL): Step {
    const [, id] = /^\/v1\/videos\/(?:text|image)2video(?:\/([^/]+))?$/.exec(pathname) ?? [undefined, null]
    if (id === null) return 'unknown'
    if (id === undefined) return method === 'POST' ? 'submit' : method === 'GET' ? 'list' : 'unknown'
    if (method !== 'GET') return 'unknown'
    return this.tasks.has(id) || /^\d+$/.test(id) ? 'poll' : 'find'
  }

  protected authorize({ headers }: Seen): void {
    checkToken(headers.authorization ?? '', Date.now() / 1000)
  }

  protected refusal({ code, message }: Refusal): unknown {
    return { code, message, request_id: requestId() }
  }

  protected serve(seen: Seen): Reply {
    const { step, url } = seen
    const kind = url.pathname.split('/')[3] as 'text2video' | 'image2video'
    if (step === 'unknown') throw new Refusal(404, 1202, 'The requested method is invalid')
    if (step === 'submit') return this.submit(kind, seen)
    const mine = [...this.tasks.values()].filter(({ body }) => body.kind === kind)
    if (step === 'list')
      return json({
        code: 0,
        message: 'SUCCEED',
        request_id: requestId(),
        data: mine.reverse().map(task => this.shown(task)),
      })
    const id = decodeURIComponent(url.pathname.split('/')[4]!)
    const task = mine.find(one => one.id === id || one.reference === id)
    if (task === undefined) throw new Refusal(404, 1203, 'The requested resource does not exist')
    this.poll(task)
    return this.envelope(this.shown(task))
  }

  private submit(kind: 'text2video' | 'image2video', { body }: Seen): Reply {
    checkBody(kind, body)
    const reference = body.external_task_id
    if (reference !== undefined && [...this.tasks.values()].some(one => one.reference === reference))
      throw new Refusal(400, 1201, 'external_task_id is not unique')
    const task = this.make({ ...body, kind }, reference === undefined ? {} : { reference })
    const { id: task_id, createdAt: at } = task
    return this.envelope({ task_id, task_status: 'submitted', task_info: infoOf(task), created_at: at, updated_at: at })
  }

  private envelope(data: Loose): Reply {
    return json({ code: 0, message: 'SUCCEED', request_id: requestId(), data })
  }

  private shown(task: Task): Loose {
    const phase = phaseOf(task)
    const duration = `${task.body.duration ?? '5'}.041`
    const videos = Array.from({ length: this.samples }, (_, at) => ({
      id: `${task.id}-${at}`,
      url: `${this.storage}/stored/${task.id}?n=${at}&sig=abc%2Fdef`,
      duration,
    }))
    return {
      task_id: task.id,
      task_status: STATUS[phase],
      task_status_msg: phase === 'review' || phase === 'broken' ? MESSAGES[phase] : '',
      task_info: infoOf(task),
      created_at: task.createdAt,
      updated_at: task.createdAt + 1000 * task.polls,
      ...(phase === 'completed' ? { task_result: { videos }, final_unit_deduction: '2' } : {}),
    }
  }
}

const infoOf = ({ reference }: Task): Loose => (reference === undefined ? {} : { external_task_id: reference })
const requestId = (): string => randomBytes(9).toString('base64url')

function checkBody(kind: string, body: Loose): void {
  const wrong = (message: string): Refusal => new Refusal(400, 1201, message)
  if (typeof body !== 'object' || body === null) throw wrong('Invalid JSON')
  onlyKnown(body, kind === 'text2video' ? TEXT : IMAGE, 1201)
  if (kind === 'text2video' && (typeof body.prompt !== 'string' || body.prompt === ''))
    throw wrong('prompt is required')
  if (kind === 'image2video' && body.image === undefined && body.image_tail === undefined)
    throw wrong('image is required')
  for (const image of [body.image, body.image_tail]) if (image !== undefined) checkImage(image)
  const { duration, mode, aspect_ratio, model_name } = body
  if (model_name !== undefined && typeof model_name !== 'string') throw wrong('model_name is invalid')
  if (duration !== undefined && !(typeof duration === 'string' && Number(duration) >= 3 && Number(duration) <= 15))
    throw wrong('duration is invalid')
  if (mode !== undefined && !['std', 'pro'].includes(mode)) throw wrong('mode is invalid')
  if (aspect_ratio !== undefined && !['16:9', '9:16', '1:1'].includes(aspect_ratio))
    throw wrong('aspect_ratio is invalid')
}

/** Accepts a URL or bare base64 and refuses a data URL. */
function checkImage(image: Loose): void {
  if (typeof image !== 'string') throw new Refusal(400, 1201, 'image is invalid')
  if (/^https?:\/\//.test(image)) return
  if (imageTypeOf(Buffer.from(image, 'base64')) === undefined || image.startsWith('data:'))
    throw new Refusal(400, 1201, 'File is not in a valid base64 format')
}

/**
 * Checks a token (HS256; `iss` is the access key, `exp` at most half an hour ahead, `nbf` in the past).
 *
 * @throws Refusal with the vendor's code.
 */
export function checkToken(authorization: string, now: number): void {
  const refused = (code: number, message: string): Refusal => new Refusal(401, code, message)
  if (authorization === '') throw refused(1001, 'Authorization is empty')
  const [, head, claims, signature] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization) ?? []
  if (head === undefined || claims === undefined || signature === undefined)
    throw refused(1002, 'Authorization is invalid')
  const { alg, typ } = partOf(head)
  const { iss, exp, nbf } = partOf(claims)
  const right = createHmac('sha256', KLING_SECRET).update(`${head}.${claims}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (alg !== 'HS256' || typ !== 'JWT' || given.length !== right.length || !timingSafeEqual(given, right))
    throw refused(1000, 'signature is invalid')
  if (iss !== KLING_ACCESS) throw refused(1002, 'access key not found')
  if (!(nbf <= now)) throw refused(1003, 'token is not yet valid')
  if (!(exp > now)) throw refused(1004, 'token has expired')
  if (exp > now + 1805) throw refused(1002, 'exp is too far ahead')
}

function partOf(text: string): Loose {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return {}
  }
}
