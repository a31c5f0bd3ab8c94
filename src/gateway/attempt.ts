import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { withCompletionFallback } from './completion-fallback.ts'
import { batchesOf, joinBatches } from './emulations/batches.ts'
import { emulationOf } from './emulations.ts'
import { locateLosses } from './locate-losses.ts'
import { prepare, refused } from './prepare.ts'
import { readResult } from './read-result.ts'
import { send } from './send.ts'
import { beginning, streamResult, streamWholeResult } from './stream-result.ts'
import { exchangeOf } from './thoughts/exchange.ts'
import type { Answered, Attempt, Emulation, PreparedAttempt } from './types.ts'
import { writeResult } from './write-result.ts'

/**
 * Has one channel answer: sends the request, or those it takes to make the answer of, and writes it to the caller.
 *
 * @throws GatewayError; where nothing was sent to the caller yet, another channel may be tried.
 */
export function attempt(attempt: Attempt): Promise<void> {
  if (attempt.call.silent === true) return streamWholeResult(attempt, SILENCE)
  return withCompletionFallback(attempt, run)
}

function run(attempt: Attempt): Promise<void> {
  const emulation = emulationOf(attempt.candidate, attempt.request)
  return emulation === undefined ? direct(attempt) : emulate(attempt, emulation)
}

/** The answer that says nothing. */
const SILENCE: Answered = {
  result: { candidates: [{ content: [], finish: { reason: 'stop' } }], usage: { input: 0, output: 0 } },
  losses: [],
  headers: {},
}

function direct(attempt: Attempt): Promise<void> {
  const written = writing(attempt, attempt.request)
  attempt.early?.offer(beginning(written))
  return send(written, (exchange, answer, reader, asking) =>
    asking.request.stream
      ? streamResult(asking, exchange, answer, reader)
      : readResult(answer, reader, asking).then(answered => {
          asking.thoughts?.keep(answered.result, exchangeOf(asking))
          return writeResult(asking, answered)
        }),
  )
}

async function emulate(attempt: Attempt, emulation: Emulation): Promise<void> {
  const losses = emulation.losses(attempt.request)
  const refusal = refused(attempt.request, losses, attempt.onLoss, lost => locateLosses(lost, attempt))
  if (refusal !== undefined) throw refusal
  const answered = await emulation.answer(attempt, (request, signal) =>
    ask(signal === undefined ? attempt : { ...attempt, signal }, request),
  )
  const all = { ...answered, losses: [...losses, ...answered.losses] }
  await (attempt.request.stream ? streamWholeResult(attempt, all) : writeResult(attempt, all))
}

/** The answer to one request of an emulation, or to one with more to embed than the upstream takes at once. */
function ask(attempt: Attempt, request: CanonicalRequest): Promise<Answered> {
  const pieces = batchesOf(request, attempt.candidate)
  return pieces === undefined ? askOnce(attempt, request) : joinBatches(attempt, pieces, askOnce)
}

const askOnce = (attempt: Attempt, request: CanonicalRequest): Promise<Answered> =>
  send(writing(attempt, { ...request, stream: false }), (_, answer, reader, asking) =>
    readResult(answer, reader, asking),
  )

/** Writes a request for the candidate, unless what it would lose is too much. */
function writing(attempt: Attempt, request: CanonicalRequest): PreparedAttempt {
  const prepared = prepare(request, attempt.candidate, attempt.thoughts)
  attempt.report.recalled(prepared.recalled?.count)
  const place = (lost: readonly Loss[]) => (request === attempt.request ? locateLosses(lost, attempt) : lost)
  const refusal = refused(request, prepared.losses, attempt.onLoss, place)
  if (refusal !== undefined) throw refusal
  return { ...attempt, prepared }
}
