import { randomBytes } from 'node:crypto'
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

export const VEO_KEY = 'AIza-upstream-veo-0123456789'

const INSTANCE = ['prompt', 'image', 'lastFrame', 'referenceImages', 'video']
const PARAMETERS = [
  ...['aspectRatio', 'durationSeconds', 'resolution', 'negativePrompt', 'personGeneration'],
  ...['seed', 'sampleCount', 'enhancePrompt'],
]
const STATUS = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND' } as const

/** A strict model of the Gemini API's `:predictLongRunning` for Veo: checks fields, values and the key. */
export class VeoVideos extends VideoUpstream {
  /** If set, downloads redirect to this origin. */
  storage: string | undefined
  /** Number of videos of a finished operation. */
  samples = 1

  protected newId(): string {
    return randomBytes(6).toString('hex')
  }

  protected stepOf(method: string, { pathname }: URL): Step {
    if (method === 'POST') return /^\/v1beta\/models\/[\w.-]+:predictLongRunning$/.test(pathname) ? 'submit' : 'unknown'
    if (method !== 'GET' && method !== 'HEAD') return 'unknown'
    if (/^\/v1beta\/files\/[\w-]+:download$/.test(pathname)) return 'content'
    return method === 'GET' && /^\/v1beta\/models\/[\w.-]+\/operations\/[\w-]+$/.test(pathname) ? 'poll' : 'unknown'
  }

  protected authorize({ headers, url }: Seen): void {
    const key = headers['x-goog-api-key'] ?? url.searchParams.get('key')
    if (key === null) throw new Refusal(403, 403, 'Method does not allow unregistered callers.')
    if (key !== VEO_KEY) throw new Refusal(400, 400, 'API key not valid. Please pass a valid API key.')
  }

  protected refusal({ status, message }: Refusal): unknown {
    return { error: { code: status, message, status: STATUS[status as keyof typeof STATUS] ?? 'INTERNAL' } }
  }

  protected serve(seen: Seen): Reply {
    const { step, url } = seen
    if (step === 'submit') return this.submit(seen)
    if (step === 'content') return this.content(url)
    const [, model, id] = /^\/v1beta\/models\/([^/]+)\/operations\/([^/]+)$/.exec(url.pathname) ?? []
    const task = id === undefined ? undefined : this.tasks.get(id)
    if (task === undefined || task.body.model !== model) throw new Refusal(404, 404, 'Requested entity was not found.')
    this.poll(task)
    return json(this.operation(task))
  }

  private submit({ body, url }: Seen): Reply {
    const model = /models\/([^:]+):/.exec(url.pathname)![1]!
    checkBody(body)
    return json({ name: nameOf(this.make({ ...body, model })) })
  }

  private operation(task: Task): Loose {
    const name = nameOf(task)
    const phase = phaseOf(task)
    if (phase === 'queued') return { name }
    if (phase === 'running')
      return {
        name,
        metadata: { '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningMetadata' },
      }
    if (phase === 'broken')
      return {
        name,
        done: true,
        error: { code: 13, message: 'Video generation failed due to an internal server issue.' },
      }
    if (phase === 'silent') return { name, done: true, error: { code: 2 } }
    const generateVideoResponse =
      phase === 'review'
        ? {
            raiMediaFilteredCount: 1,
            raiMediaFilteredReasons: [
              'The video was filtered out because it violated the usage guidelines. Support codes: 58061214.',
            ],
          }
        : {
            generatedSamples: Array.from({ length: this.samples }, (_, at) => ({
              video: { uri: this.uriOf(task, at) },
            })),
          }
    return {
      name,
      done: true,
      response: {
        '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
        generateVideoResponse,
      },
    }
  }

  private uriOf(task: Task, at: number): string {
    return `${this.address}/v1beta/files/${task.id}${at === 0 ? '' : `-${at}`}:download?alt=media`
  }

  private content({ pathname, searchParams }: URL): Reply {
    const id = /files\/([^:-]+)/.exec(pathname)![1]!
    const task = this.tasks.get(id)
    if (task === undefined || task.expired)
      throw new Refusal(404, 404, 'The file does not exist, or you do not have permission to access it.')
    if (searchParams.get('alt') !== 'media') throw new Refusal(400, 400, 'alt=media is required.')
    return this.storage === undefined ? this.clipOf(task) : { redirect: `${this.storage}/stored/${id}?sig=abc%2Fdef` }
  }
}

export const nameOf = ({ id, body }: Task): string => `models/${body.model}/operations/${id}`

function checkBody(body: Loose): void {
  const wrong = (message: string): Refusal => new Refusal(400, 400, message)
  if (typeof body !== 'object' || body === null) throw wrong('Invalid JSON payload received.')
  onlyKnown(body, ['instances', 'parameters'], 400)
  if (!Array.isArray(body.instances) || body.instances.length !== 1) throw wrong('Exactly one instance is required.')
  const [instance] = body.instances
  onlyKnown(instance, INSTANCE, 400, 'instances[0].')
  if (typeof instance.prompt !== 'string' && instance.image === undefined && instance.video === undefined)
    throw wrong('A prompt, an image or a video is required.')
  for (const picture of [
    instance.image,
    instance.lastFrame,
    ...(instance.referenceImages ?? []).map(({ image }: Loose) => image),
  ])
    if (picture !== undefined) checkPicture(picture)
  const parameters = body.parameters ?? {}
  onlyKnown(parameters, PARAMETERS, 400, 'parameters.')
  const { aspectRatio, durationSeconds, resolution, sampleCount } = parameters
  if (aspectRatio !== undefined && !['16:9', '9:16'].includes(aspectRatio)) throw wrong('aspectRatio is not supported.')
  if (
    durationSeconds !== undefined &&
    !(Number.isInteger(durationSeconds) && durationSeconds >= 4 && durationSeconds <= 8)
  )
    throw wrong(
      `The number value for durationSeconds is out of bound. Please provide a value between 4 and 8, inclusive.`,
    )
  if (resolution !== undefined && !['720p', '1080p', '4k'].includes(resolution))
    throw wrong('resolution is not supported.')
  if (sampleCount !== undefined && ![1, 2, 3, 4].includes(sampleCount)) throw wrong('sampleCount is not supported.')
}

function checkPicture(picture: Loose): void {
  onlyKnown(picture, ['bytesBase64Encoded', 'mimeType', 'gcsUri'], 400, 'image.')
  if (picture.gcsUri !== undefined) return
  const bytes = Buffer.from(String(picture.bytesBase64Encoded ?? ''), 'base64')
  if (imageTypeOf(bytes) !== picture.mimeType) throw new Refusal(400, 400, 'Unable to process input image.')
}
