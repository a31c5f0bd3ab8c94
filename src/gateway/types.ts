import type { Caller } from '../accounts/index.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { OnLoss } from '../config/index.ts'
import type { Source } from '../egress/transport/sse.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import type { Call } from './call.ts'
import type { Capture } from './capture/capture.ts'
import type { Seal } from './compaction/seals.ts'
import type { ImageDelivery } from './image-store.ts'
import type { Prepared } from './prepare.ts'
import type { Report } from './report.ts'
import type { ResponseEcho, Session, Sink, Stored } from './stored/index.ts'
import type { Submission } from './tasks/submission.ts'
import type { OwnThoughts } from './thoughts/thoughts.ts'

/** A request that was authorised and read. */
export interface Incoming {
  readonly call: Call
  readonly caller: Caller
  readonly report: Report
  readonly onLoss: OnLoss
  readonly request: CanonicalRequest
  readonly trailing: Trailing | undefined
  /** The stored turns it builds on, and what stores its answer; undefined where it has neither. */
  readonly session: Session | undefined
  /** Releases the files of the body. */
  readonly drop: (() => void) | undefined
  /** The task it submits, where its work is one. */
  readonly submission: Submission | undefined
  /** Where it is captured; undefined where it is not. */
  readonly capture: Capture | undefined
}

/** The rest of a request whose file is passed on while it arrives: fields behind it count like any other. */
export interface Trailing {
  /** The request with every field, once all of them came. */
  readonly whole: CanonicalRequest | undefined
  /** The error of the rest: the caller's fault, whatever the upstream answered. */
  readonly fault: unknown
  /** The fields and files that were not sent yet. Rejects with what reading the rest throws. */
  parts(sent: Prepared, target: Target): Promise<Pick<WireRequest, 'body' | 'files'>>
}

/** Begins a stream whose upstream keeps the caller waiting. */
export interface Early {
  /** A request goes to a channel, with so many losses: its answer is the one to begin. */
  beginWithOnceDue(attempt: Attempt, losses: readonly Loss[]): void
  /**
   * The upstream answers: the sink of the stream that has begun, which pauses `source` from now on; undefined where none
   * has, as for all upstreams that answer soon.
   */
  takeBegun(source: Source): Sink | undefined
}

/** A request on its way to one target. */
export interface Attempt extends Pick<Incoming, 'call' | 'report' | 'onLoss' | 'trailing' | 'submission' | 'capture'> {
  /** The request as this target gets it. */
  readonly request: CanonicalRequest
  readonly target: Target
  readonly channel: Channel
  /** Milliseconds between signs of life on a silent stream. */
  readonly heartbeat: number
  readonly early: Early | undefined
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
}

/** A whole answer on its way to the caller. */
export interface WholeAnswer {
  readonly result: CanonicalResult
  /** What the request lost. */
  readonly losses: readonly Loss[]
  /** Further headers of the answer. */
  readonly headers: { readonly [name: string]: string }
}

/**
 * Sends one request to the target of an attempt and reads its whole answer.
 *
 * @param signal ends it where it is one of several at once; the emulation then handles a caller that leaves.
 */
export type RoundTrip = (attempt: Attempt, request: CanonicalRequest, signal?: AbortSignal) => Promise<WholeAnswer>

/** An answer that the gateway makes itself, out of other answers of the target, or of none. */
export interface Emulation {
  /** What of the request it has no equivalent for; found before anything is sent. */
  losses(request: CanonicalRequest): readonly Loss[]
  answer(attempt: Attempt, roundTrip: RoundTrip): Promise<WholeAnswer>
}
