import type { Caller } from '../access/index.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Channel } from '../channel/index.ts'
import type { OnLoss } from '../config/index.ts'
import type { Candidate } from '../router.ts'
import type { ResponseEcho, Session, Stored } from '../stored/index.ts'
import type { Submission } from '../tasks/submission.ts'
import type { Call } from './call.ts'
import type { Capture } from './capture/capture.ts'
import type { Seal } from './compaction/seals.ts'
import type { EarlyHead } from './early-head.ts'
import type { ImageDelivery } from './image-store.ts'
import type { Report } from './report.ts'
import type { OwnThoughts } from './thoughts/thoughts.ts'
import type { TrailingFields } from './trailing-fields.ts'

/** A request that was authorised and read. */
export interface Incoming {
  readonly call: Call
  readonly caller: Caller
  readonly report: Report
  readonly onLoss: OnLoss
  readonly request: CanonicalRequest
  /** The fields that follow a file which is passed on while it arrives. */
  readonly trailing: TrailingFields | undefined
  /** The stored turns it builds on, and what stores its answer; undefined where it has neither. */
  readonly session: Session | undefined
  /** Releases the files of the body. */
  readonly drop: (() => void) | undefined
  /** The task it submits, where its work is one. */
  readonly submission: Submission | undefined
  /** Where it is captured; undefined where it is not. */
  readonly capture: Capture | undefined
}

/** A request on its way to one candidate. */
export interface Attempt {
  readonly call: Call
  /** The request as this candidate gets it. */
  readonly request: CanonicalRequest
  readonly trailing: TrailingFields | undefined
  readonly candidate: Candidate
  readonly channel: Channel
  readonly report: Report
  readonly onLoss: OnLoss
  /** Milliseconds between signs of life on a silent stream. */
  readonly heartbeat: number
  /** Begins a stream whose upstream keeps the caller waiting. */
  readonly early: EarlyHead | undefined
  /** The items of its history that the caller did not send. */
  readonly stored: Stored | undefined
  /** How the answer repeats the request, where that is not by the request alone. */
  readonly echo: ResponseEcho | undefined
  /** How images reach the caller. */
  readonly images: ImageDelivery
  /** Seals compacted conversations for the caller. */
  readonly seal: Seal
  /** The caller's remembered reasoning; undefined where none is kept. */
  readonly thoughts: OwnThoughts | undefined
  /** The task it submits, where its work is one. */
  readonly submission: Submission | undefined
  readonly capture: Capture | undefined
}

/** A whole answer on its way to the caller. */
export interface Answered {
  readonly result: CanonicalResult
  /** What the request lost. */
  readonly losses: readonly Loss[]
  /** Further headers of the answer. */
  readonly headers: { readonly [name: string]: string }
}

/**
 * Sends one request to the candidate of an attempt and reads its whole answer.
 *
 * @param signal ends it where it is one of several at once; the emulation then handles a caller that leaves.
 */
export type RoundTrip = (attempt: Attempt, request: CanonicalRequest, signal?: AbortSignal) => Promise<Answered>

/** An answer that the gateway makes itself, out of other answers of the candidate, or of none. */
export interface Emulation {
  /** What of the request it has no equivalent for; found before anything is sent. */
  losses(request: CanonicalRequest): readonly Loss[]
  answer(attempt: Attempt, roundTrip: RoundTrip): Promise<Answered>
}
