import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Channel } from '../channel/index.ts'
import type { OnLoss } from '../config/index.ts'
import type { Candidate } from '../router.ts'
import type { ResponseEcho } from '../stored/response-echo.ts'
import type { Stored } from '../stored/session.ts'
import type { Call } from './call.ts'
import type { Seal } from './compaction/seals.ts'
import type { EarlyHead } from './early-head.ts'
import type { Prepared } from './prepare.ts'
import type { Report } from './report.ts'
import type { OwnThoughts } from './thoughts/thoughts.ts'
import type { TrailingFields } from './trailing-fields.ts'

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

/** A whole answer on its way to the caller. */
export interface Answered {
  readonly result: CanonicalResult
  /** What the request lost. */
  readonly losses: readonly Loss[]
  /** What else the caller is told in headers. */
  readonly headers: { readonly [name: string]: string }
}

/** Asks the candidate for one thing; with a signal it is one of several at once, and the emulation handles a caller that leaves. */
export type Ask = (request: CanonicalRequest, signal?: AbortSignal) => Promise<Answered>

/** An answer the gateway makes itself, out of others it asks the candidate for, or of none. */
export interface Emulation {
  /** What it cannot do as it was asked, known before anything is sent. */
  losses(request: CanonicalRequest): readonly Loss[]
  answer(attempt: Attempt, ask: Ask): Promise<Answered>
}
