import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskFile, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyText, defined, rest } from '../fields.ts'
import { readInnerError } from './error.ts'
import { type Marks, readSeconds, readTime } from './values.ts'

const FORMAT = 'kling'

/** The states, and those of vendors with nearly the same format. */
const STATES: ReadonlyMap<Json | undefined, TaskState> = new Map<Json | undefined, TaskState>([
  ['submitted', 'queued'],
  ['processing', 'in-progress'],
  ['succeed', 'completed'],
  ['failed', 'failed'],
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['running', 'in-progress'],
  ['succeeded', 'completed'],
  ['success', 'completed'],
  ['completed', 'completed'],
  ['cancelled', 'failed'],
  ['canceled', 'failed'],
  ['expired', 'failed'],
])

const USUAL: { readonly [state in TaskState]: string } = {
  queued: 'submitted',
  'in-progress': 'processing',
  completed: 'succeed',
  failed: 'failed',
}

const ENVELOPE = new Set(['code', 'message', 'request_id', 'data'])
const TAKEN = new Set([...['task_id', 'task_status', 'task_status_msg', 'task_result', 'created_at', 'updated_at']])

/**
 * A task (Kling's API, "Query Task"), as a submit and a question about its state answer it: `{code, message, data}`.
 *
 * @throws GatewayError for any code but 0, and where there is no id.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const { code } = body
  if (code != null && code !== 0) throw new GatewayError(readInnerError(body))
  const data = anyObject(body['data'])
  const id = idOf(data?.['task_id'])
  if (data === undefined || id === undefined) throw new GatewayError(NO_TASK)
  const marks: Marks = {}
  const refused: string[] = []
  if (typeof data['task_id'] === 'number') marks['task_id'] = 'number'
  const createdAt = readTime(data, 'created_at', marks, refused)
  const task = readTask(data, marks, refused)
  return {
    id,
    ...defined({ createdAt }),
    candidates: [],
    task,
    ...rest(FORMAT, body, ENVELOPE, {
      ...{ own: true, ...(code === 0 ? {} : { code: code ?? 'absent' }) },
      ...defined({ message: body['message'] ?? undefined, request_id: body['request_id'] ?? undefined }),
    }),
  }
}

const NO_TASK = { kind: 'upstream-failed', message: 'The upstream answered without a task.' } as const

function idOf(value: Json | undefined): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : anyText(value)
  // Dots alone would lead to another path.
  return id === undefined || /^\.*$/.test(id) ? undefined : id
}

function readTask(data: JsonObject, marks: Marks, refused: string[]): CanonicalTask {
  const status = data['task_status']
  const told = STATES.get(status) ?? (status == null ? 'queued' : 'in-progress')
  const made = told === 'completed' ? readVideos(data['task_result'], marks) : undefined
  const state = told === 'completed' && made === undefined ? 'failed' : told
  if (status !== USUAL[state]) marks['status'] = status ?? 'absent'
  const failure = state === 'failed' ? readFailure(data, refused) : undefined
  if (failure === undefined) refused.push('task_status_msg')
  if (made === undefined) refused.push('task_result')
  const completedAt = state === 'completed' ? readTime(data, 'updated_at', marks, refused) : undefined
  if (state !== 'completed') refused.push('updated_at')
  return {
    state,
    ...defined({ failure, files: made?.files, seconds: made?.seconds, completedAt }),
    ...withResult(rest(FORMAT, data, TAKEN, marks, refused), made?.beside),
  }
}

/** The node with what a result holds beside its videos. */
function withResult(node: Pick<CanonicalTask, 'extras' | 'spelling'>, beside: JsonObject | undefined): typeof node {
  if (beside === undefined || Object.keys(beside).length === 0) return node
  return { ...node, extras: { [FORMAT]: { ...node.extras?.[FORMAT], task_result: beside } } }
}

const NO_REASON = 'The upstream gave no reason why there is no video.'

/** The vendor's messages for a prompt, an image or a result that did not pass review; it has no code for it here. */
const REVIEW = /risk control|sensitive|violat|polic|moderation|prohibited|inappropriate|风控|敏感|违规|审核/i

/** A task that succeeded without a video comes without a reason. */
function readFailure(data: JsonObject, refused: string[]): TaskFailure {
  const { task_status_msg: wire } = data
  const message = anyText(wire)
  if (message === undefined || message === '') {
    if (message === undefined) refused.push('task_status_msg')
    const spelt = { message: message === undefined ? 'absent' : 'empty' }
    return { kind: 'broken', message: NO_REASON, spelling: { [FORMAT]: spelt } }
  }
  return { kind: REVIEW.test(message) ? 'content-review' : 'broken', message, spelling: { [FORMAT]: { own: true } } }
}

interface Videos {
  readonly files: readonly TaskFile[]
  readonly seconds: number | undefined
  /** What else the result holds. */
  readonly beside: JsonObject
}

/** The videos of a result; undefined where it has none, or one that has no address. */
function readVideos(wire: Json | undefined, marks: Marks): Videos | undefined {
  const videos = isObject(wire) ? wire['videos'] : undefined
  if (!isObject(wire) || !Array.isArray(videos) || videos.length === 0) return undefined
  if (!videos.every(one => isObject(one) && typeof one['url'] === 'string' && one['url'] !== '')) return undefined
  const [first] = videos as readonly JsonObject[]
  const seconds = readSeconds(first!['duration'], marks)
  const { videos: _, ...beside } = wire
  const files = (videos as readonly JsonObject[]).map(
    (video, index): TaskFile => ({
      variant: 'video',
      url: video['url'] as string,
      ...rest(FORMAT, video, index === 0 && seconds !== undefined ? TIMED : PLAIN),
    }),
  )
  return { files, seconds, beside }
}

const PLAIN = new Set(['url'])
const TIMED = new Set(['url', 'duration'])
