import type { JsonObject } from '../../canonical/node.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'
import type { CanonicalTask, TaskState } from '../../canonical/task.ts'
import { anyObject, anyText } from '../fields.ts'

/** What an answer is made of, as far as its finish depends on it. */
export interface Made {
  readonly called: boolean
  readonly refused: boolean
}

const INCOMPLETE: { readonly [reason: string]: FinishReason } = {
  max_output_tokens: 'length',
  content_filter: 'refused',
}

/**
 * How an answer ended, out of its state (FORMATS §16.3): calls made and a refusal are why it stopped (trap 13), and
 * what is incomplete says why (trap 14). Undefined while it goes on, and where an error ended it.
 */
export function readFinish(body: JsonObject, made: Made): Finish | undefined {
  const status = anyText(body['status'])
  switch (status) {
    case undefined:
    case 'completed':
      return { reason: made.called ? 'tool-calls' : made.refused ? 'refused' : 'stop', raw: 'completed' }
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

/** An answer still in the making: ask again under its id. */
export function readTask(body: JsonObject): CanonicalTask | undefined {
  const status = anyText(body['status']) ?? ''
  const isNamed = anyText(body['id']) !== undefined
  return isNamed && Object.hasOwn(STATES, status) ? { state: STATES[status]! } : undefined
}
