import { defined } from '../canonical/node.ts'
import { type CanonicalResult, totalUsage } from '../canonical/result.ts'
import { WRITERS } from '../egress/index.ts'
import type { Prepared } from './prepare.ts'
import { readResult } from './read-result.ts'
import { sendWhole } from './round-trip.ts'
import type { AcceptedRequest } from './send.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/**
 * Maximum number of requests with which a model is asked to go on with one answer. An answer that pauses once more ends
 * there.
 */
export const MAX_CONTINUATIONS = 10

/**
 * Returns true if the model may pause in its answer and the caller's format has no pauses: the caller would take half an
 * answer for a whole one, so that the gateway asks the model to go on (decision pauses-of-models).
 */
export const mayPause = ({ prepared: { native, wire }, attempt: { target } }: AcceptedRequest): boolean =>
  !native && WRITERS[target.format.format]?.pauses?.mayPause(wire) === true

/**
 * Returns the request that continues an answer. Returns undefined if the model did not pause, if it said nothing before
 * it paused, and if it waits for results of the caller's tools.
 */
export function continuationOf(
  prepared: Prepared,
  { target }: Pick<Attempt, 'target'>,
  answer: CanonicalResult,
): Prepared | undefined {
  const pauses = WRITERS[target.format.format]?.pauses
  if (pauses === undefined || !canGoOn(answer)) return undefined
  return { ...prepared, wire: pauses.continued(prepared.wire, answer) }
}

/** Returns true if the model paused behind a part of its answer, and no call in it waits for a result of the caller. */
function canGoOn({ candidates }: CanonicalResult): boolean {
  const { finish, content = [] } = candidates[0] ?? {}
  return finish?.reason === 'paused' && content.length > 0 && content.every(({ type }) => type !== 'tool-call')
}

/**
 * Reads an upstream's answer as one result, with all that the model adds after pauses.
 *
 * @throws GatewayError as `readResult` does, also if the model cannot go on or the caller leaves.
 */
export async function readWholeAnswer(accepted: AcceptedRequest): Promise<WholeAnswer> {
  const first = await readResult(accepted)
  if (!mayPause(accepted)) return first
  const { attempt } = accepted
  const controller = new AbortController()
  const results = [first.result]
  let prepared = continuationOf(accepted.prepared, attempt, first.result)
  while (prepared !== undefined && results.length <= MAX_CONTINUATIONS) {
    attempt.incoming.call.reply.abortable = controller
    const { result } = await sendWhole(attempt, prepared, controller.signal)
    results.push(result)
    prepared = continuationOf(prepared, attempt, result)
  }
  return results.length === 1 ? first : { ...first, result: joinedResult(results) }
}

/** Joins the parts of an answer between pauses: one candidate, ended by the last part, and the sum of their usage. */
function joinedResult(results: readonly CanonicalResult[]): CanonicalResult {
  const last = results.at(-1)!
  const content = results.flatMap(({ candidates }) => candidates[0]?.content ?? [])
  const usage = totalUsage(results.flatMap(result => result.usage ?? []))
  return { ...last, ...defined({ id: results[0]!.id, usage }), candidates: [{ ...last.candidates[0], content }] }
}
