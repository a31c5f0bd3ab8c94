import { type Headers, single } from './headers.ts'

/** The headers that join what systems record of one request (W3C Trace Context). */
export interface TraceHeaders {
  readonly traceparent: string
  readonly tracestate?: string
}

/** What a valid `traceparent` has. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

/** Version 00; later ones may have more behind it. */
const PARENT = /^(?!ff)(?!00-.{52}-)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
/** Members that are passed on at most, and characters of all of them. */
const MEMBERS = 32
const LONGEST = 512

/** The trace a caller's request belongs to; undefined where it belongs to none, or its header is not valid. */
export function traceParent(traceparent: string): TraceParent | undefined {
  const [, traceId, spanId, flags] = PARENT.exec(traceparent) ?? []
  return traceId === undefined ? undefined : { traceId, spanId: spanId!, flags: Number.parseInt(flags!, 16) }
}

/** A caller's `tracestate`, where it is valid. */
export function traceState(headers: Headers): string | undefined {
  const state = single(headers['tracestate']).trim()
  if (state === '' || state.length > LONGEST) return undefined
  const members = state.split(',').map(member => member.trim())
  return members.length <= MEMBERS && members.every(member => member === '' || MEMBER.test(member)) ? state : undefined
}

/** A caller's headers as they are passed on to upstreams; undefined where they are not valid. */
export function passedTrace(headers: Headers): TraceHeaders | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string' || traceParent(traceparent) === undefined) return undefined
  const tracestate = traceState(headers)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
