import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyText, defined, extrasOf } from '../fields.ts'
import { NO_TASK, readSeconds, stateOf } from '../media/video.ts'
import { FORMAT } from './request.ts'

const KNOWN_FIELDS = new Set([
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
  const unreadFields = body['task_id'] === id ? [] : ['task_id']
  const result = {
    id,
    ...defined({
      model: readText(body, 'model', unreadFields),
      createdAt: readNumber(body, 'created_at', unreadFields),
    }),
    candidates: [],
    task: readTask(body, unreadFields),
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
  }
  return withWireSource(result, FORMAT, body)
}

function readTask(body: JsonObject, unreadFields: string[]): CanonicalTask {
  const state = stateOf(body['status'])
  const failure = state === 'failed' ? readFailure(body['error']) : undefined
  if (failure === undefined) unreadFields.push('error')
  const seconds = readSeconds(body['seconds'])
  if (seconds === undefined) unreadFields.push('seconds')
  const url = readText(body, 'url', unreadFields)
  const known = {
    progress: readNumber(body, 'progress', unreadFields),
    failure,
    files: url === undefined ? undefined : [{ variant: 'video' as const, url }],
    seconds,
    size: readText(body, 'size', unreadFields),
    prompt: readText(body, 'prompt', unreadFields),
    completedAt: readNumber(body, 'completed_at', unreadFields),
    expiresAt: readNumber(body, 'expires_at', unreadFields),
    remixOf: readText(body, 'remixed_from_video_id', unreadFields),
  }
  return { state, ...defined(known) }
}

function readText(body: JsonObject, field: string, unreadFields: string[]): string | undefined {
  const value = anyText(body[field])
  if (value === undefined) unreadFields.push(field)
  return value
}

function readNumber(body: JsonObject, field: string, unreadFields: string[]): number | undefined {
  const value = anyNumber(body[field])
  if (value === undefined) unreadFields.push(field)
  return value
}

const FAILURE_FIELDS = new Set(['code', 'message'])

/** Reads why there is no video, from an object or a string. Returns undefined for any other value. */
function readFailure(wire: Json | undefined): TaskFailure | undefined {
  if (typeof wire === 'string') return { kind: 'broken', message: wire }
  if (!isObject(wire)) return undefined
  const unreadFields: string[] = []
  const message = readText(wire, 'message', unreadFields)
  const code = readText(wire, 'code', unreadFields)
  return {
    kind: isReview(code) ? 'content-review' : 'broken',
    message: message ?? '',
    ...defined({ code }),
    ...extrasOf(FORMAT, wire, FAILURE_FIELDS, unreadFields),
  }
}

/**
 * Returns true for a code that means that content review stopped the task: `moderation_blocked`,
 * `content_policy_violation` or `sentinel_block`.
 */
const isReview = (code: string | undefined): boolean =>
  code !== undefined && /moderat|policy|safety|sentinel|content_filter|content_review|sensitive/i.test(code)
