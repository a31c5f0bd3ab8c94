import type { GatewayError } from '../../canonical/error.ts'
import type { Consumer } from './body-bytes.ts'

interface TextOptions {
  /** Maximum size of the body in bytes. */
  readonly limit: number
  /** Aborts the answer because it is longer than the limit, and returns the error. */
  readonly overflow: () => GatewayError
  readonly resolve: (text: string) => void
  readonly reject: (error: GatewayError) => void
  /** Called with the part that arrived of a body that is broken. */
  readonly onPart?: ((part: Uint8Array) => void) | undefined
}

/** Collects a body as text. */
export class TextConsumer implements Consumer {
  private readonly options: TextOptions
  private chunks: Uint8Array[] = []
  private size = 0

  constructor(options: TextOptions) {
    this.options = options
  }

  onData(chunk: Uint8Array): void {
    const { limit, overflow } = this.options
    this.size += chunk.length
    if (this.size <= limit) this.chunks.push(chunk)
    else {
      this.chunks = []
      this.onError(overflow())
    }
  }

  onError(error: GatewayError): void {
    this.options.onPart?.(Buffer.concat(this.chunks))
    this.options.reject(error)
  }

  onEnd(): void {
    const { chunks, size } = this
    this.options.resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)).toString('utf8'))
  }
}
