import type { Bytes } from './bytes.ts'
import type { JsonObject } from './node.ts'

/** One HTTP request in a format, on either side of the gateway. */
export interface WireRequest {
  /** Below the base address, query left out: `/v1/messages`. */
  readonly path: string
  readonly query: { readonly [name: string]: string | readonly string[] }
  /** Lower-case names; only what belongs to the format, never credentials. */
  readonly headers: { readonly [name: string]: string }
  /** Of a form: its text fields; repeated fields are lists. */
  readonly body: JsonObject
  /** The files of a form, in order; present, maybe empty, where the request is a form (`multipart/form-data`). */
  readonly files?: readonly WireFile[]
  /** More parts of the form follow. */
  readonly unfinished?: true
  /** A body that is neither JSON nor a form: raw bytes. */
  readonly raw?: { readonly mediaType: string; readonly bytes: Bytes }
  /** The media types an upstream may answer with, where they are not those of JSON and server-sent events. */
  readonly accept?: string
}

/** One file of a form. */
export interface WireFile {
  /** The name of the form's field. */
  readonly field: string
  /** The file's own name. */
  readonly name?: string
  readonly mediaType: string
  readonly bytes: Bytes
}

/** One whole HTTP answer in a format. */
export interface WireAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** Empty where there is a raw body. */
  readonly body: JsonObject
  /** A body that is not JSON: text, or bytes as they arrive. */
  readonly raw?: RawBody
}

export type RawBody =
  | { readonly mediaType: string; readonly text: string }
  | { readonly mediaType: string; readonly bytes: Bytes }

/** One server-sent event; data is JSON text or a format's end mark. */
export interface WireEvent {
  readonly event?: string
  readonly data: string
}
