import { defined, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure } from '../../canonical/task.ts'
import type { StoredTask } from '../../store/tasks.ts'
import type { Target } from '../../upstreams/router.ts'
import { scrubber, scrubJson } from '../scrub.ts'

/** Path of video tasks below the gateway's base URL. */
const VIDEOS_PATH = '/v1/videos'

/** Returns the stored part of a task's request, which is needed to read and write answers. */
export const requestOf = ({
  upstreamModel,
  output,
}: Pick<StoredTask, 'upstreamModel' | 'output'>): CanonicalRequest => ({
  model: upstreamModel,
  messages: [],
  output,
  sampling: {},
  stream: false,
})

/**
 * Converts a stored task to the result that callers see: with the public id and model, the gateway's URLs, and the
 * request's settings that the upstream does not repeat.
 *
 * @param base the gateway's base URL, without a trailing slash.
 */
export function publicTask(stored: StoredTask, base: string): CanonicalResult {
  const { id, model, createdAt, state, output, result } = stored
  const { files: _, ...task } = result.task ?? { state: 'queued' }
  const shown: CanonicalTask = {
    ...defined({ prompt: stored.prompt, seconds: output.video?.seconds, size: output.video?.size }),
    ...task,
    state: state === 'submitting' ? 'queued' : state,
    ...(task.progress === undefined ? {} : { progress: percent(task.progress) }),
    ...(state === 'completed' ? COMPLETED_FIELDS : {}),
    ...(state === 'failed' ? { failure: withReason(task.failure) } : {}),
    ...(state === 'completed' ? { files: [{ variant: 'video', url: `${base}${VIDEOS_PATH}/${id}/content` }] } : {}),
    ...defined({ remixOf: stored.remixOf }),
  }
  const { extras } = result
  return {
    ...{ id, model, createdAt: Math.floor(createdAt / 1000), candidates: [], task: shown, complete: true },
    ...defined({ extras }),
  }
}

const COMPLETED_FIELDS = { progress: 100 } as const

/** Ensures that a failed task states a reason. */
const withReason = (failure: TaskFailure = { kind: 'broken', message: '' }): TaskFailure =>
  failure.message === '' ? { ...failure, message: 'The upstream gave no reason.' } : failure

const percent = (progress: number): number => Math.round(Math.min(100, Math.max(0, progress)))

/**
 * Converts an upstream's answer for storage. Removes everything that callers must not see, except file URLs, which
 * `publicTask` leaves out.
 */
export function storable(
  result: CanonicalResult,
  target: Target,
  { id: publicId, model }: Pick<StoredTask, 'id' | 'model'>,
): CanonicalResult {
  const { id = '', task, usage } = result
  const safe = <T extends Node>(node: T): T => withoutSpelling(node, id)
  const failure = task?.failure
  return {
    ...defined({ usage }),
    candidates: [],
    ...safe({ ...defined({ extras: result.extras }) }),
    ...(task === undefined
      ? {}
      : {
          task: {
            ...safe(task),
            ...(failure === undefined
              ? {}
              : { failure: safeFailure(safe(failure), withoutId(scrubber(target, model), id, publicId)) }),
          },
        }),
  }
}

/** Minimum length of an id that is replaced in texts, in characters. Shorter ids could match by chance. */
const MIN_ID_LENGTH = 6

/** Scrubs a string, and replaces the upstream's task id with the public id. */
const withoutId = (scrub: (text: string) => string, id: string, publicId: string) => (text: string) =>
  scrub(id.length < MIN_ID_LENGTH ? text : text.replaceAll(id, publicId))

function safeFailure({ kind, ...failure }: TaskFailure, scrub: (text: string) => string): TaskFailure {
  const safe = scrubJson(failure as unknown as JsonObject, scrub)
  return { ...(safe as unknown as Omit<TaskFailure, 'kind'>), kind }
}

/** Drops a node's `spelling`, and every extra field that contains a URL or the upstream's id. */
function withoutSpelling<T extends Node>({ spelling: _, extras, ...node }: T, id: string): T {
  if (extras === undefined) return node as unknown as T
  const isSafe = (value: unknown): boolean => {
    const text = JSON.stringify(value)
    return !text.includes('://') && (id === '' || !text.includes(id))
  }
  const safeExtras = Object.entries(extras).map(([format, fields]) => {
    const safe = Object.entries(fields).filter(([, value]) => isSafe(value))
    return [format, Object.fromEntries(safe)] as const
  })
  return { ...(node as unknown as T), extras: Object.fromEntries(safeExtras) }
}
