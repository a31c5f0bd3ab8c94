import type { Path } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'

type Headers = { readonly [name: string]: string }

/** One event of a stream. */
export interface CapturedEvent {
  /** When it came, in milliseconds from the beginning of the request. */
  readonly ms: number
  readonly event?: string
  readonly data: string
}

/** A body as it is shown: of its kinds the one that it is. */
export interface CapturedBody {
  readonly body?: Json
  readonly text?: string
  readonly events?: readonly CapturedEvent[]
  /** Of a form: its files, which are not kept. */
  readonly files?: readonly CapturedFile[]
  /** Bytes that are neither JSON nor text are not kept, only how many they were. */
  readonly bytes?: number
}

export interface CapturedFile {
  readonly field: string
  readonly name?: string
  readonly media_type: string
  readonly size?: number
}

/** A request without its body, as its format has it: below the base address. */
export interface WirePlace {
  readonly path: string
  readonly query: { readonly [name: string]: Json }
  readonly headers: Headers
}

export interface CapturedLoss {
  readonly kind: string
  readonly reason: string
  readonly path: Path
  /** The JSON pointer of its place in the caller's body, where it has one. */
  readonly pointer?: string
  /** Undone on the way back. */
  readonly restored?: true
}

export interface CapturedError {
  readonly kind: string
  readonly message: string
}

/** One request to an upstream, and its answer. */
export interface CapturedAttempt {
  readonly channel: string
  readonly format: string
  readonly upstream_model: string
  readonly native: boolean
  readonly sent_after_ms: number
  readonly ended_after_ms?: number
  readonly losses: readonly CapturedLoss[]
  /** Absent where it was refused before it was sent. */
  readonly request?: CapturedBody & {
    readonly origin: string
    readonly wire: WirePlace
    readonly path: string
    readonly query: Headers
    readonly headers: Headers
  }
  readonly answer?: CapturedBody & {
    readonly status: number
    readonly headers: Headers
    readonly after_ms: number
    readonly whole: boolean
  }
  readonly error?: CapturedError
}

/** All that is shown of a captured request. */
export interface CaptureDocument {
  readonly id: string
  /** Unix time in milliseconds. */
  readonly at: number
  readonly key: string
  readonly key_name: string
  readonly model?: string
  /** The request that this one repeats. */
  readonly replay_of?: string
  readonly caller: CapturedBody & {
    readonly format: string
    /** Of the endpoint. */
    readonly path: string
    /** Absent where the endpoint did not take it. */
    readonly wire?: WirePlace
    readonly query: Headers
    readonly headers: Headers
  }
  readonly canonical?: Json
  readonly attempts: readonly CapturedAttempt[]
  /** Further requests to upstreams, which are not kept. */
  readonly omitted_attempts?: number
  readonly returned: CapturedBody & {
    /** Absent where the caller left before it was answered. */
    readonly status?: number
    readonly headers: Headers
    readonly after_ms?: number
    readonly whole: boolean
    /** What the upstream's answer lost on its way to the caller's format. */
    readonly losses: readonly CapturedLoss[]
  }
  /** The kind of the error that it ended with. */
  readonly error?: string
  /** JSON pointers, into this document, of what was cut. */
  readonly cut: readonly string[]
}
