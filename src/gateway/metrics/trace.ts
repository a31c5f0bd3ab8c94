import type { UsageRow } from '../../store/usage/row.ts'
import type { Headers } from '../../upstreams/channel/headers.ts'
import type { TraceHeaders } from '../../upstreams/channel/trace-context.ts'

/** A request that is traced. */
export interface TracedRequest {
  /** How it was asked for; `POST` by default. */
  readonly method?: 'GET' | 'POST'
  /** It is one that the gateway makes, and belongs to the trace of the headers. */
  readonly own?: boolean
  readonly door: string
  readonly format: string
  readonly headers: Headers
}

/** What an attempt is made with. */
export interface TracedAttempt {
  readonly channel: string
  readonly provider: string
  readonly format: string
  /** What the upstream calls the model. */
  readonly model: string
}

/** The tokens of an answer, as far as they are known. */
type Tokens = Pick<UsageRow, 'input' | 'output'>

/** One request to an upstream. */
export interface AttemptTrace {
  /** What the upstream gets, so that it can continue the trace. */
  readonly headers: TraceHeaders
  /** The upstream began to answer. */
  answered(status: number): void
  /** @param error the kind of what went wrong, where anything did. */
  end(tokens: Tokens | undefined, error?: string): void
}

/** One request of a caller. */
export interface RequestTrace {
  /** What other requests that belong to this one continue. */
  readonly headers: TraceHeaders
  attempt(attempt: TracedAttempt): AttemptTrace
  end(row: UsageRow): void
}

/** Makes traces and sends them to a collector. */
export interface Tracer {
  begin(request: TracedRequest): RequestTrace
  /** Sends what is left, for some seconds at most. */
  close(): Promise<void>
}
