import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TaskFailure } from '../../canonical/task.ts'
import { spelt } from '../fields.ts'

/** How a failure reads that has no message. */
export const NO_REASON = 'The upstream gave no reason why there is no video.'

/** The vendor's messages for a prompt, an image or a result that did not pass review. */
const REVIEW = /risk control|sensitive|violat|polic|moderation|prohibited|inappropriate|风控|敏感|违规|审核/i
const NOT_PASSED = 'Failure to pass the risk control system:'

const AT = ['task', 'failure']

/** The reason of a failed task as a message: a content review is recognised by it. */
export function writeFailure(failure: TaskFailure | undefined, losses: Losses): JsonObject {
  if (failure === undefined) {
    losses.add(AT, { kind: 'broken', message: NO_REASON }, 'no-reason')
    return {}
  }
  losses.dropFields(failure, AT, { code: 'no-codes' })
  const { message } = spelt(failure, 'kling')
  if (message === 'absent') return {}
  if (message === 'empty') return { task_status_msg: '' }
  const text = textOf(failure)
  if (text === '') losses.change([...AT, 'message'], NO_REASON, 'no-reason')
  else if (text !== failure.message) losses.change([...AT, 'message'], text, 'told-by-its-words')
  if (failure.kind === 'broken' && REVIEW.test(text))
    losses.change([...AT, 'kind'], 'content-review', 'told-by-its-words')
  return text === '' ? {} : { task_status_msg: text }
}

const textOf = ({ kind, message }: TaskFailure): string =>
  kind === 'content-review' && !REVIEW.test(message) ? `${NOT_PASSED} ${message}` : message
