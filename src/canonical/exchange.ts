import type { JsonObject } from './node.ts'

/** One HTTP request in a format, on either side of the gateway. */
export interface WireRequest {
  /** Below the base address, query left out: `/v1/messages`. */
  readonly path: string
  readonly query: { readonly [name: string]: string }
  /** Lower-case names; only what belongs to the format, never credentials. */
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
}

/** One whole HTTP answer in a format. */
export interface WireAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
}

/** One server-sent event; data is JSON text or a format's end mark. */
export interface WireEvent {
  readonly event?: string
  readonly data: string
}
