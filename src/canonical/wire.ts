import type { Bytes } from './bytes.ts'
import type { JsonObject } from './node.ts'

/** An HTTP request in a wire format, from a caller or to an upstream. */
export interface WireRequest {
  /** Path below the base URL, without the query: `/v1/messages`. */
  readonly path: string
  readonly query: { readonly [name: string]: string | readonly string[] }
  /** Format-specific headers by lower-case name. Never contain credentials. */
  readonly headers: { readonly [name: string]: string }
  /** JSON body, or the text fields of a form, with repeated fields as lists. */
  readonly body: JsonObject
  /** The files of a form (`multipart/form-data`), in order. They are undefined if the request is not a form. */
  readonly files?: readonly WireFile[]
  /** True if the form is still being received and more parts follow. */
  readonly unfinished?: true
  /** Raw bytes, for a body that is neither JSON nor a form. */
  readonly raw?: { readonly mediaType: string; readonly bytes: Bytes }
  /** Value of the `accept` header, if it is not JSON or server-sent events. */
  readonly accept?: string
}

/** A file of a form. */
export interface WireFile {
  /** Name of the form's field. */
  readonly field: string
  /** Name of the file. */
  readonly name?: string
  readonly mediaType: string
  readonly bytes: Bytes
}

/** A complete HTTP response in a wire format. */
export interface WireAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** JSON body. Empty if there is a raw body. */
  readonly body: JsonObject
  /** Body that is not JSON: text, or a stream of bytes. */
  readonly raw?: RawBody
}

export type RawBody =
  | { readonly mediaType: string; readonly text: string }
  | { readonly mediaType: string; readonly bytes: Bytes }

/** A server-sent event. The data is JSON, or a format's end-of-stream marker. */
export interface WireEvent {
  readonly event?: string
  readonly data: string
}
