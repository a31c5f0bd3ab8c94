import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { CanonicalTask, TaskFailure, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyText, defined, rest } from '../fields.ts'
import { FORMAT } from './pictures.ts'

/** The states (FORMATS §11), and those of vendors with nearly the same format. */
const STATES: ReadonlyMap<Json | undefined, TaskState> = new Map<Json | undefined, TaskState>([
  ['queued', 'queued'],
  ['in_progress', 'in-progress'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['pending', 'queued'],
  ['submitted', 'queued'],
  ['processing', 'in-progress'],
  ['running', 'in-progress'],
  ['succeeded', 'completed'],
  ['success', 'completed'],
  ['cancelled', 'failed'],
  ['canceled', 'failed'],
  ['expired', 'failed'],
])

const USUAL: { readonly [state in TaskState]: string } = {
  queued: 'queued',
  'in-progress': 'in_progress',
  completed: 'completed',
  failed: 'failed',
}

const TAKEN = new Set([
  ...['id', 'object', 'model', 'status', 'progress', 'created_at', 'completed_at', 'expires_at', 'seconds', 'size'],
  ...['prompt', 'remixed_from_video_id', 'error', 'url', 'task_id'],
])

/**
 * A task (FORMATS §11), as an upstream answers a submit or a question about its state.
 *
 * @throws GatewayError where there is no id, e.g. for an error under status 200.
 */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const id = anyText(body['id']) ?? anyText(body['task_id'])
  if (id === undefined || id === '') throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NO_TASK)
  const state = STATES.get(body['status']) ?? (body['status'] == null ? 'queued' : 'in-progress')
  const refused: string[] = []
  const spelt: { [key: string]: Json } = { own: true }
  if (body['object'] !== 'video') spelt['object'] = body['object'] ?? 'absent'
  if (body['status'] !== USUAL[state]) spelt['status'] = body['status'] ?? 'absent'
  if (body['id'] === undefined) spelt['id'] = 'task_id'
  else if (body['task_id'] === id) spelt['task_id'] = true
  else refused.push('task_id')
  const task = { state, ...readTask(body, state, spelt, refused) }
  return {
    id,
    ...defined({ model: readText(body, 'model', refused), createdAt: readNumber(body, 'created_at', refused) }),
    candidates: [],
    task,
    ...rest(FORMAT, body, TAKEN, spelt, refused),
  }
}

const NO_TASK = { kind: 'upstream-failed', message: 'The upstream answered without a task.' } as const

function readTask(
  body: JsonObject,
  state: TaskState,
  spelt: { [key: string]: Json },
  refused: string[],
): Omit<CanonicalTask, 'state'> {
  const failure = state === 'failed' && isObject(body['error']) ? readFailure(body['error']) : undefined
  if (failure === undefined && body['error'] != null) refused.push('error')
  const seconds = readSeconds(body['seconds'], refused)
  if (seconds !== undefined && body['seconds'] !== String(seconds)) spelt['seconds'] = body['seconds']!
  const url = readText(body, 'url', refused)
  return defined({
    progress: readNumber(body, 'progress', refused),
    failure,
    files: url === undefined ? undefined : [{ variant: 'video' as const, url }],
    seconds,
    size: readText(body, 'size', refused),
    prompt: readText(body, 'prompt', refused),
    completedAt: readNumber(body, 'completed_at', refused),
    expiresAt: readNumber(body, 'expires_at', refused),
    remixOf: readText(body, 'remixed_from_video_id', refused),
  })
}

function readText(body: JsonObject, field: string, refused: string[]): string | undefined {
  const value = anyText(body[field])
  if (value === undefined && body[field] != null) refused.push(field)
  return value
}

function readNumber(body: JsonObject, field: string, refused: string[]): number | undefined {
  const value = anyNumber(body[field])
  if (value === undefined && body[field] != null) refused.push(field)
  return value
}

function readSeconds(wire: Json | undefined, refused: string[]): number | undefined {
  if (wire == null) return undefined
  const seconds = typeof wire === 'string' && wire.trim() !== '' ? Number(wire) : wire
  if (typeof seconds === 'number' && Number.isFinite(seconds)) return seconds
  refused.push('seconds')
  return undefined
}

const FAILURE = new Set(['code', 'message'])

function readFailure(wire: JsonObject): TaskFailure {
  const refused: string[] = []
  const message = readText(wire, 'message', refused)
  const code = readText(wire, 'code', refused)
  return {
    kind: isReview(code) ? 'content-review' : 'broken',
    message: message ?? '',
    ...defined({ code }),
    ...rest(FORMAT, wire, FAILURE, message === undefined ? { message: 'absent' } : { message: 'there' }, refused),
  }
}

/** Codes of tasks that a review of content stopped: `moderation_blocked`, `content_policy_violation`, `sentinel_block`. */
const isReview = (code: string | undefined): boolean =>
  code !== undefined && /moderat|policy|safety|sentinel|content_filter|content_review|sensitive/i.test(code)
