import { answerFailure } from './failures.ts'
import { readResult } from './read-result.ts'
import { send } from './send.ts'
import type { RoundTrip } from './types.ts'
import { writeRequest } from './write-request.ts'

/** One request of an emulation: written for the candidate, sent, and its answer read whole. */
export const roundTrip: RoundTrip = async (attempt, request, signal) => {
  const sent = await send(attempt, writeRequest(attempt, { ...request, stream: false }), signal)
  try {
    const answered = await readResult(sent)
    sent.succeeded()
    return answered
  } catch (thrown) {
    throw answerFailure(thrown)
  } finally {
    sent.release()
  }
}
