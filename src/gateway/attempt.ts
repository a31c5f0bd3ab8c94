import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Channel } from '../channel/index.ts'
import type { OnLoss } from '../config/index.ts'
import type { Candidate } from '../router.ts'
import type { ResponseEcho } from '../stored/response-echo.ts'
import type { Stored } from '../stored/session.ts'
import type { Submission } from '../tasks/submission.ts'
import { submit } from '../tasks/submit.ts'
import type { Call } from './call.ts'
import type { Seal } from './compaction/seals.ts'
import { withCompletionFallback } from './completion-fallback.ts'
import type { EarlyHead } from './early-head.ts'
import { batchesOf, joinBatches } from './emulations/batches.ts'
import { type Emulation, emulationOf } from './emulations.ts'
import { locateLosses } from './locate-losses.ts'
import { type Prepared, prepare, refused } from './prepare.ts'
import { readResult } from './read-result.ts'
import type { Report } from './report.ts'
import { send } from './send.ts'
import { beginning, streamResult, streamWholeResult } from './stream-result.ts'
import { exchangeOf, type OwnThoughts } from './thoughts/thoughts.ts'
import type { TrailingFields } from './trailing-fields.ts'
import { type Answered, writeResult } from './write-result.ts'

/** One candidate's turn at a request. */
export interface Attempt {
  readonly call: Call
  /** The request as this candidate is to be told it. */
  readonly request: CanonicalRequest
  /** More of the request that comes while it is sent. */
  readonly late: TrailingFields | undefined
  readonly candidate: Candidate
  readonly channel: Channel
  readonly report: Report
  readonly onLoss: OnLoss
  /** Milliseconds between signs of life on a silent stream. */
  readonly heartbeat: number
  /** Begins a stream whose upstream keeps the caller waiting. */
  readonly early: EarlyHead | undefined
  /** Breaks it off where it is one of several; its caller's leaving is seen to then. */
  readonly signal?: AbortSignal
  /** What of its history the caller did not send. */
  readonly stored?: Stored | undefined
  /** The task it submits, where its work is one. */
  readonly submission?: Submission | undefined
  /** How the answer is told, where that is not by the request alone. */
  readonly echo?: ResponseEcho | undefined
  /** Brings images the way the caller wants them; undefined for any other work. */
  readonly deliver: ((answered: Answered, request: CanonicalRequest) => Promise<Answered>) | undefined
  /** Seals what the caller is to keep for the gateway. */
  readonly seal: Seal
  /** What is kept for the caller of what was thought before calls; undefined where nothing is. */
  readonly thoughts: OwnThoughts | undefined
}

/** An attempt whose request is written. */
export interface PreparedAttempt extends Attempt {
  readonly prepared: Prepared
}

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
  const { submission } = attempt
  if (submission !== undefined) {
    const request = submission.referenced(attempt.request, attempt.candidate)
    return submit(writing({ ...attempt, request }, request), submission)
  }
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
