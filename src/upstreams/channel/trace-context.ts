import { type Headers, headerValue } from './headers.ts'

/** Headers that connect the traces of several systems (W3C Trace Context). */
export interface TraceHeaders {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Fields of a valid `traceparent`. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

/** Matches version 00, and later versions with further fields. */
const TRACEPARENT_PATTERN =
  /^(?!ff)(?!00-.{52}-)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** Matches one member of `tracestate`. */
const TRACESTATE_MEMBER =
  /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
/** Maximum number of members of a `tracestate` that is passed on. */
const MAX_TRACESTATE_MEMBERS = 32
/** Maximum length of a `tracestate` that is passed on, in characters. */
const MAX_TRACESTATE_LENGTH = 512

/** Parses a caller's `traceparent`. Returns undefined if it is missing or invalid. */
export function traceParent(traceparent: string): TraceParent | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT_PATTERN.exec(traceparent) ?? []
  return traceId === undefined ? undefined : { traceId, spanId: spanId!, flags: Number.parseInt(flags!, 16) }
}

/** Returns a caller's `tracestate`, or undefined if it is missing or invalid. */
export function traceState(headers: Headers): string | undefined {
  const state = headerValue(headers['tracestate']).trim()
  if (state === '' || state.length > MAX_TRACESTATE_LENGTH) return undefined
  const members = state.split(',').map(member => member.trim())
  return members.length <= MAX_TRACESTATE_MEMBERS &&
    members.every(member => member === '' || TRACESTATE_MEMBER.test(member))
    ? state
    : undefined
}

/** Returns the trace headers to pass on to upstreams, or undefined if the caller sent none or invalid ones. */
export function passedTrace(headers: Headers): TraceHeaders | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string' || traceParent(traceparent) === undefined) return undefined
  const tracestate = traceState(headers)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
