import type { UsageRow } from '../../store/usage/row.ts'
import type { Headers } from '../../upstreams/channel/headers.ts'
import type { TraceHeaders } from '../../upstreams/channel/trace-context.ts'

/** Facts about a request that a tracer needs. */
export interface TracedRequest {
  /** HTTP method. Default: `POST`. */
  readonly method?: 'GET' | 'POST'
  /** True if the gateway itself makes the request. The request then belongs to the trace in `headers`. */
  readonly isInternal?: boolean
  readonly path: string
  readonly format: string
  readonly headers: Headers
}

/** The target of an attempt. */
export interface TracedAttempt {
  readonly channel: string
  readonly provider: string
  readonly format: string
  /** The upstream's name for the model. */
  readonly model: string
}

/** Token counts of an answer, if known. */
type Tokens = Pick<UsageRow, 'input' | 'output'>

/** The trace of one request to an upstream. */
export interface AttemptTrace {
  /** Trace headers for the upstream, so that it can continue the trace. */
  readonly headers: TraceHeaders
  /** Records the status of the upstream's answer. */
  answered(status: number): void
  /** @param error the kind of error, if the attempt failed. */
  end(tokens: Tokens | undefined, error?: string): void
}

/** The trace of one caller's request. */
export interface RequestTrace {
  /** Trace headers for further requests that the gateway makes for this one. */
  readonly headers: TraceHeaders
  attempt(attempt: TracedAttempt): AttemptTrace
  end(row: UsageRow): void
}

/** Creates traces and sends them to a collector. */
export interface Tracer {
  begin(request: TracedRequest): RequestTrace
  /** Sends the remaining spans. Gives up after a few seconds. */
  close(): Promise<void>
}
