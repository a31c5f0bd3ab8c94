import type { Headers } from './format.ts'

/* One exchange: the request, the answer, and what went wrong. */

export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: Buffer
}

export interface ReceivedAnswer {
  readonly status: number
  readonly headers: Headers
  /** Trailer fields after a chunked body. */
  readonly trailers: Headers
  readonly body: Buffer
  /** True if the body is complete according to its content length or chunked encoding. */
  readonly isComplete: boolean
}

/** Reason why an exchange failed: the id of the broken transport rule. */
export type FaultKind = 'http.connect' | 'http.deadline' | 'http.closed' | 'http.too-large' | 'http.coding'

export interface Exchange {
  readonly sent: SentRequest
  readonly got?: ReceivedAnswer
  readonly fault?: { readonly kind: FaultKind; readonly detail: string }
  /** Time of the first byte of the body in milliseconds, on the clock of `performance.now()`. */
  readonly firstByte?: number
  /** Time from the first byte sent to the end of the answer, in milliseconds. */
  readonly took: number
}
