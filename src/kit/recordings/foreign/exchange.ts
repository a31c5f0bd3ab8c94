import type { ArrivedRequest } from '../recorded-request.ts'
import type { ArrivedAnswer, ArrivedSession } from '../recorder.ts'

/** An exchange or a WebSocket session from another tool's file. */
export interface ForeignExchange {
  readonly request: ArrivedRequest
  readonly answer?: ArrivedAnswer
  readonly session?: ArrivedSession
  readonly at: Date
  /** Rules of `--redact` and `--ignore` that were used for recording. */
  readonly redact?: readonly string[]
  readonly ignore?: readonly string[]
}

/** An entry that a recording cannot express, and the reason. */
export interface Skipped {
  readonly path: readonly (string | number)[]
  readonly reason: string
}

/** The contents of another tool's file. */
export interface ForeignFile {
  readonly exchanges: readonly ForeignExchange[]
  readonly skipped: readonly Skipped[]
}

/** Converts lists of headers to Node's form: names in lower case, repeated values joined. */
export function headersOf(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    const before = headers[key]
    // HTTP/2 names such as `:authority` are not headers.
    if (!key.startsWith(':')) headers[key] = before === undefined ? value : `${before}, ${value}`
  }
  return headers
}

/** Returns the path and query of an absolute URL, as sent. */
export const targetOf = (url: string): string => {
  const target = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/s, '')
  return target.startsWith('/') ? target : `/${target}`
}

/** Removes the header `content-encoding` for a body that is already decoded. */
export function withoutEncoding<T extends { readonly [name: string]: string }>(headers: T): Record<string, string> {
  const { 'content-encoding': _, ...rest } = headers as Record<string, string>
  return rest
}
