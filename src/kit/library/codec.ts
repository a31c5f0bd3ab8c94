import type { Writer } from '../../egress/writer.ts'
import type { Reader } from '../../ingress/reader.ts'

/** A wire format: its name, and the functions that read and write it. Bundles contain only the codecs in use. */
export interface Codec {
  readonly name: string
  /** Returns the path of a request below the base URL, for callers that only pass a body. */
  readonly path: (model: string, stream: boolean) => string
  /** @internal */
  readonly reader: Reader
  /** @internal */
  readonly writer: Writer
}
