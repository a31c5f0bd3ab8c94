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
import type { StateCipher } from './compaction/state-cipher.ts'
import type { FallbackModels } from './fallback-models.ts'
import type { ImageDelivery } from './image-store.ts'
import type { Prepared } from './prepare.ts'
import type { Report } from './report.ts'
import type { ResponseChain, ResponseEcho, Sink, StoredItems } from './stored/index.ts'
import type { Submission } from './tasks/submission.ts'
import type { OwnerReasoning } from './thoughts/reasoning-memory.ts'
import type { Signers } from './thoughts/signers.ts'

/** A request that was authorised and read. */
export interface Incoming {
  readonly call: Call
  readonly caller: Caller
  readonly report: Report
  readonly onLoss: OnLoss
  readonly request: CanonicalRequest
  readonly trailing: Trailing | undefined
  /**
   * Stored turns that the request continues, and the saver of its answer, or undefined if the request needs neither.
   */
  readonly responseChain: ResponseChain | undefined
  /** Releases the uploaded files of the body. */
  readonly drop: (() => void) | undefined
  /** Video task that the request submits. */
  readonly submission: Submission | undefined
  /** Capture of the request, or undefined if it is not captured. */
  readonly capture: Capture | undefined
  /** Models that may still answer instead of the requested one, or undefined if there are none. */
  readonly fallbacks?: FallbackModels | undefined
}

/** The rest of a form whose file is passed on while it arrives. Fields after the file count like all others. */
export interface Trailing {
  /** Request with every field, once all have arrived. */
  readonly request: CanonicalRequest | undefined
  /** Error in the rest of the form. It is the caller's fault, whatever the upstream answered. */
  readonly fault: unknown
  /** Returns the fields and files that have not been sent yet. Rejects if the rest of the form cannot be read. */
  parts(sent: Prepared, target: Target): Promise<Pick<WireRequest, 'body' | 'files'>>
}

/** Starts a stream before a slow upstream answers. */
export interface Early {
  /**
   * Announces that a request was written for a target. The stream starts with this attempt and these losses if the
   * upstream stays silent.
   */
  announce(attempt: Attempt, losses: readonly Loss[]): void
  /**
   * Called when the upstream answers. If the stream has started, returns it and has it pause `source` from then on.
   * Returns undefined if no stream has started, as for every upstream that answers quickly.
   */
  takeOpenStream(source: Source): Sink | undefined
}

/** An attempt to have one target answer a request. */
export interface Attempt {
  /** Request as it was read. */
  readonly incoming: Incoming
  /** Request as this target receives it. */
  readonly request: CanonicalRequest
  readonly target: Target
  readonly channel: Channel
  /** Interval between two keep-alives on a silent stream, in milliseconds. */
  readonly heartbeat: number
  readonly early: Early | undefined
  /** Items of the history that are stored here and that the caller did not send. */
  readonly stored: StoredItems | undefined
  /** Repeats fields of the request in the answer, if the request alone does not determine them. */
  readonly echo: ResponseEcho | undefined
  /** Stores images, serves them by URL, and fetches them for the caller. */
  readonly images: ImageDelivery
  /** Encrypts the caller's compacted conversations. */
  readonly cipher: StateCipher
  /** Remembered reasoning of the caller, or undefined if none is stored. */
  readonly reasoning: OwnerReasoning | undefined
  /** The accounts that issued signatures, or undefined if there is only one account. */
  readonly signers: Signers | undefined
  /** True if the request may contain signatures. False if its history was searched and holds none. */
  readonly mayBeSigned: boolean
}

/** A complete answer for the caller. */
export interface WholeAnswer {
  readonly result: CanonicalResult
  /** Losses of the request. */
  readonly losses: readonly Loss[]
  /** Additional headers of the answer. */
  readonly headers: { readonly [name: string]: string }
}

/**
 * Sends one request to the target of an attempt and reads its whole answer.
 *
 * @param signal aborts the request, if it is one of several parallel requests. The emulation then handles a caller that
 * leaves.
 */
export type RoundTrip = (attempt: Attempt, request: CanonicalRequest, signal?: AbortSignal) => Promise<WholeAnswer>

/** An answer that the gateway assembles from other answers of the target, or computes itself. */
export interface Emulation {
  /** Returns the losses that the emulation adds to the request. They are known before anything is sent. */
  losses(request: CanonicalRequest): readonly Loss[]
  answer(attempt: Attempt, roundTrip: RoundTrip): Promise<WholeAnswer>
}
