import { roundedMs } from '../canonical/milliseconds.ts'
import { defined } from '../canonical/node.ts'
import { type EarlierAttempt, type Failure, recordedModel } from '../store/usage/row.ts'
import type { Target } from '../upstreams/router.ts'

/** Maximum number of characters of the message of an earlier attempt. */
const MAX_MESSAGE = 200

/**
 * Builds the record of an attempt that was followed by another one.
 *
 * @param times start and end of the attempt since the start of the request, in milliseconds.
 * @param failure reason why the attempt failed, or undefined if it did not fail.
 */
export const earlierAttempt = (
  { channel, upstreamModel }: Target,
  { sentAfter, endedAfter }: Pick<EarlierAttempt, 'sentAfter' | 'endedAfter'>,
  failure: Failure | undefined,
): EarlierAttempt => ({
  ...{ channel: channel.name, upstreamModel: recordedModel(upstreamModel) },
  ...{ sentAfter: roundedMs(sentAfter), endedAfter: roundedMs(endedAfter) },
  ...defined({ failure: failure && withShortMessage(failure) }),
})

const withShortMessage = ({ said, ...failure }: Failure): Failure => ({
  ...failure,
  ...defined({ said: said?.slice(0, MAX_MESSAGE) }),
})
