import type { JsonObject } from '../../canonical/node.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'
import type { CanonicalTask, TaskState } from '../../canonical/task.ts'
import { anyObject, anyText } from '../fields.ts'

/** The parts of an answer that its finish depends on. */
export interface ContentFacts {
  readonly called: boolean
  readonly refused: boolean
}

const INCOMPLETE: { readonly [reason: string]: FinishReason } = {
  max_output_tokens: 'length',
  content_filter: 'refused',
}

/**
 * How an answer ended, from its status (FORMATS §16.3): calls and a refusal are reasons to stop (trap 13), and an
 * incomplete answer names its own (trap 14). Undefined while it is running, and where an error ended it.
 */
export function readFinish(body: JsonObject, content: ContentFacts): Finish | undefined {
  const status = anyText(body['status'])
  switch (status) {
    case undefined:
    case 'completed':
      return { reason: content.called ? 'tool-calls' : content.refused ? 'refused' : 'stop', raw: 'completed' }
    case 'incomplete': {
      const raw = anyText(anyObject(body['incomplete_details'])?.['reason']) ?? 'incomplete'
      return { reason: Object.hasOwn(INCOMPLETE, raw) ? INCOMPLETE[raw]! : 'other', raw }
    }
    case 'failed':
      return body['error'] == null ? { reason: 'error', raw: 'failed' } : undefined
    case 'queued':
    case 'in_progress':
      return undefined
    default:
      return { reason: 'other', raw: status }
  }
}

const STATES: { readonly [status: string]: TaskState } = { queued: 'queued', in_progress: 'in-progress' }

/** The task of an answer that is not finished: it is polled under its id. */
export function readTask(body: JsonObject): CanonicalTask | undefined {
  const status = anyText(body['status']) ?? ''
  const isNamed = anyText(body['id']) !== undefined
  return isNamed && Object.hasOwn(STATES, status) ? { state: STATES[status]! } : undefined
}
