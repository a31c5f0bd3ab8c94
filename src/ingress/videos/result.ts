import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyText, defined, extrasOf } from '../fields.ts'
import { NO_TASK, readSeconds, stateOf } from '../media/video.ts'
import { FORMAT } from './request.ts'

const TAKEN = new Set([
  ...['id', 'object', 'model', 'status', 'progress', 'created_at', 'completed_at', 'expires_at', 'seconds', 'size'],
  ...['prompt', 'remixed_from_video_id', 'error', 'url', 'task_id'],
])

/**
 * Reads a task (docs/wire/videos.md#openai) from the answer to a submission or a status query.
 *
 * @throws GatewayError if there is no id, for example for an error under status 200.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const id = anyText(body['id']) || anyText(body['task_id'])
  if (!id) throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NO_TASK)
  const refused = body['task_id'] === id ? [] : ['task_id']
  const result = {
    id,
    ...defined({ model: readText(body, 'model', refused), createdAt: readNumber(body, 'created_at', refused) }),
    candidates: [],
    task: readTask(body, refused),
    ...extrasOf(FORMAT, body, TAKEN, refused),
  }
  return withWireSource(result, FORMAT, body)
}

function readTask(body: JsonObject, refused: string[]): CanonicalTask {
  const state = stateOf(body['status'])
  const failure = state === 'failed' ? readFailure(body['error']) : undefined
  if (failure === undefined) refused.push('error')
  const seconds = readSeconds(body['seconds'])
  if (seconds === undefined) refused.push('seconds')
  const url = readText(body, 'url', refused)
  const known = {
    progress: readNumber(body, 'progress', refused),
    failure,
    files: url === undefined ? undefined : [{ variant: 'video' as const, url }],
    seconds,
    size: readText(body, 'size', refused),
    prompt: readText(body, 'prompt', refused),
    completedAt: readNumber(body, 'completed_at', refused),
    expiresAt: readNumber(body, 'expires_at', refused),
    remixOf: readText(body, 'remixed_from_video_id', refused),
  }
  return { state, ...defined(known) }
}

function readText(body: JsonObject, field: string, refused: string[]): string | undefined {
  const value = anyText(body[field])
  if (value === undefined) refused.push(field)
  return value
}

function readNumber(body: JsonObject, field: string, refused: string[]): number | undefined {
  const value = anyNumber(body[field])
  if (value === undefined) refused.push(field)
  return value
}

const FAILURE = new Set(['code', 'message'])

/** Reads why there is no video, from an object or a string. Undefined for any other value. */
function readFailure(wire: Json | undefined): TaskFailure | undefined {
  if (typeof wire === 'string') return { kind: 'broken', message: wire }
  if (!isObject(wire)) return undefined
  const refused: string[] = []
  const message = readText(wire, 'message', refused)
  const code = readText(wire, 'code', refused)
  return {
    kind: isReview(code) ? 'content-review' : 'broken',
    message: message ?? '',
    ...defined({ code }),
    ...extrasOf(FORMAT, wire, FAILURE, refused),
  }
}

/**
 * Returns true for a code that means that content review stopped the task: `moderation_blocked`,
 * `content_policy_violation` or `sentinel_block`.
 */
const isReview = (code: string | undefined): boolean =>
  code !== undefined && /moderat|policy|safety|sentinel|content_filter|content_review|sensitive/i.test(code)
