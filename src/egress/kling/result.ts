import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { NO_REASON, writeFailure } from './failure.ts'
import { writeVideos } from './videos.ts'

const FORMAT = 'kling'
const RESULT_LOSSES = {
  model: 'no-models',
  usage: 'no-usage',
  serviceTier: 'no-tiers',
  error: 'no-error-beside-a-task',
}
const TASK_LOSSES = {
  progress: 'no-progress',
  size: 'no-sizes',
  prompt: 'no-prompts',
  expiresAt: 'no-expiry',
  remixOf: 'no-remixes',
}
const STATES: { readonly [state in TaskState]: string } = {
  queued: 'submitted',
  'in-progress': 'processing',
  completed: 'succeed',
  failed: 'failed',
}

/**
 * A task as Kling's clients see it: `{code, message, data}` (Kling's API, "Query Task").
 *
 * @throws GatewayError `upstream-failed` for an answer that is no task.
 */
export function writeResult(result: CanonicalResult): Written<WireAnswer> {
  const { task, id = '' } = result
  if (task === undefined) throw NO_TASK
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  for (const index of result.candidates.keys()) losses.drop(['candidates', index], 'tasks-only')
  const own = spelt(result, FORMAT)
  const isWhole = own['own'] !== true || result.complete === true
  const code = own['code'] ?? 0
  const fields = {
    ...(code === 'absent' && !isWhole ? {} : { code: code === 'absent' ? 0 : code }),
    ...(isWhole ? { message: 'SUCCEED', request_id: id } : {}),
    ...defined({ message: own['message'], request_id: own['request_id'] }),
    data: writeData(result, task, losses),
  }
  const body = beneath(kept(result, FORMAT), fields, result)
  return { wire: { status: 200, headers: {}, body: body as JsonObject }, losses: losses.list }
}

const NO_TASK = new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered without a task.' })

/** What the gateway itself answers stands, whatever an upstream has under the same names. */
const beneath = (extras: JsonObject, fields: object, { complete }: CanonicalResult): object =>
  complete === true ? { ...extras, ...fields } : { ...fields, ...extras }

function writeData(result: CanonicalResult, task: CanonicalTask, losses: Losses): JsonObject {
  const { id = '', createdAt } = result
  losses.dropFields(task, ['task'], TASK_LOSSES)
  const marks = spelt(task, FORMAT)
  const isCompleted = task.state === 'completed'
  const status = marks['status'] ?? STATES[task.state]
  if (!isCompleted) losses.dropFields(task, ['task'], { completedAt: 'with-its-end-only', files: 'with-its-end-only' })
  if (task.state !== 'failed') losses.dropFields(task, ['task'], { failure: 'of-failed-tasks-only' })
  const videos = isCompleted ? writeVideos(task, losses) : []
  const { beside, extras } = besideVideos(kept(task, FORMAT), videos)
  if (videos.length === 0) losses.dropFields(task, ['task'], { seconds: 'with-its-video-only' })
  if (isCompleted && videos.length === 0) reportNoVideo(losses)
  const fields = {
    task_id: marks['task_id'] === 'number' ? Number(id) : id,
    ...(status === 'absent' ? {} : { task_status: status }),
    ...(task.state === 'failed' ? writeFailure(task.failure, losses) : {}),
    ...(createdAt === undefined ? {} : { created_at: timeOf(createdAt, marks['created_at']) }),
    ...(videos.length > 0 && task.completedAt !== undefined
      ? { updated_at: timeOf(task.completedAt, marks['updated_at']) }
      : {}),
    ...(videos.length === 0 ? {} : { task_result: { videos, ...beside } }),
  }
  return beneath(extras, fields, result) as JsonObject
}

/** What a result held beside its videos stands with them. */
function besideVideos(
  fields: JsonObject,
  videos: readonly JsonObject[],
): { readonly beside?: JsonObject; readonly extras: JsonObject } {
  const { task_result: beside, ...extras } = fields
  return videos.length === 0 || !isObject(beside) ? { extras: fields } : { beside, extras }
}

/** In milliseconds, or as it came. */
const timeOf = (seconds: number, mark: Json | undefined): Json => mark ?? seconds * 1000

/** A task that succeeds shows a video: without one it is read as failed. */
function reportNoVideo(losses: Losses): void {
  const at: Path = ['task']
  losses.change([...at, 'state'], 'failed', 'no-video-to-show')
  losses.add([...at, 'failure'], { kind: 'broken', message: NO_REASON }, 'no-video-to-show')
  losses.dropFields({ completedAt: 0 }, at, { completedAt: 'no-video-to-show' })
}
