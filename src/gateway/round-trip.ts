import { answerFailure } from './failures.ts'
import { type Prepared, writeRequest } from './prepare.ts'
import { readResult } from './read-result.ts'
import { send } from './send.ts'
import type { Attempt, RoundTrip, WholeAnswer } from './types.ts'

/** Sends one request of an emulation to the target and reads the whole answer. */
export const roundTrip: RoundTrip = async (attempt, request, signal) =>
  sendWhole(attempt, writeRequest(attempt, { ...request, stream: false }), signal)

/** Sends a written request and reads its whole answer. Rejects with GatewayError. */
export async function sendWhole(attempt: Attempt, prepared: Prepared, signal?: AbortSignal): Promise<WholeAnswer> {
  const acceptedRequest = await send(attempt, prepared, signal)
  try {
    const wholeAnswer = await readResult(acceptedRequest)
    acceptedRequest.recordSuccess()
    return wholeAnswer
  } catch (thrown) {
    throw answerFailure(thrown)
  } finally {
    acceptedRequest.close()
  }
}
