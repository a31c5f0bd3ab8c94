import { GatewayError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { StoredTask } from '../../store/tasks.ts'
import { answerFailure } from '../failures.ts'
import { writeRequest } from '../prepare.ts'
import { sendWhole } from '../round-trip.ts'
import type { Attempt, WholeAnswer } from '../types.ts'
import { writeResult } from '../write-result.ts'
import { publicTask } from './public-task.ts'
import type { Submission } from './submission.ts'

/**
 * Submits a task to one upstream and answers its caller. The task is stored before the request is sent, and again with
 * the upstream's id before the caller is answered.
 *
 * @throws GatewayError. If `submission.forbidsFailover` is then true, no other upstream may be tried.
 */
export async function submit(original: Attempt, submission: Submission): Promise<void> {
  const attempt = { ...original, request: submission.withReference(original.request, original.target) }
  const prepared = writeRequest(attempt)
  await submission.storeTarget(attempt.target, attempt.request)
  let wholeAnswer: WholeAnswer
  let storedTask: StoredTask
  try {
    wholeAnswer = withSentLength(await sendWhole(attempt, prepared), prepared.losses)
    storedTask = await submission.storeAccepted(wholeAnswer.result, attempt.target)
  } catch (thrown) {
    const failure = answerFailure(thrown)
    if (!submission.recordFailure(failure)) throw failure
    throw new GatewayError(
      { ...failure.error, message: `${failure.error.message} ${NOT_RESUBMITTED}` },
      { cause: failure.cause },
    )
  }
  await writeResult(attempt, { ...wholeAnswer, result: publicTask(storedTask, submission.base) })
}

/**
 * Adds the length that the upstream was asked for, in seconds, if it makes no video of the requested length. The caller
 * sees this length and pays for it.
 */
function withSentLength(wholeAnswer: WholeAnswer, losses: readonly Loss[]): WholeAnswer {
  const { result } = wholeAnswer
  const lengths = losses.map(loss => (loss.kind === 'changed' && isLength(loss) ? loss.became : undefined))
  const seconds = lengths.find(length => typeof length === 'number')
  if (seconds === undefined || result.task === undefined || result.task.seconds !== undefined) return wholeAnswer
  return { ...wholeAnswer, result: { ...result, task: { ...result.task, seconds } } }
}

const isLength = ({ path }: Loss): boolean => path.join('/') === 'output/video/seconds'

const NOT_RESUBMITTED = 'It may have accepted the task, so the task is not submitted again.'
