import type { Headers } from './format.ts'

/* What went over the wire. */

export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: Buffer
}

export interface GotAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** Whether the body ended as its framing says. */
  readonly isComplete: boolean
}

/** Why an exchange did not end well, in the words of a rule. */
export type FaultKind = 'http.connect' | 'http.deadline' | 'http.closed' | 'http.too-large'

export interface Exchange {
  readonly sent: SentRequest
  readonly got?: GotAnswer
  readonly fault?: { readonly kind: FaultKind; readonly detail: string }
  /** Milliseconds from the first byte sent to the end. */
  readonly took: number
}
