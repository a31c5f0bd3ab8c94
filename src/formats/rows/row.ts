import type { JsonObject } from '../../canonical/node.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import type { Work } from '../../canonical/work.ts'
import type { AuthStyle } from '../auth.ts'
import type { Flags } from '../dialects/flag.ts'

/** Everything that the gateway knows of a format besides how to read and write it. */
export interface FormatRow {
  /** Facts about upstreams of the format; absent if the gateway calls none. */
  readonly upstream?: FormatFacts
  /**
   * The kinds of work that callers request in the format; absent if no caller speaks it. Token counting is missing,
   * because the gateway can estimate the tokens of any model.
   */
  readonly callers?: readonly Work[]
  /** Endpoints with fixed paths. */
  readonly endpoints?: readonly Endpoint[]
  /** Further paths of the format, whose errors are written in it. */
  readonly otherPaths?: RegExp
  /** Where requests of callers may name a model; by default `model` and the fields of `ANYWHERE`. */
  readonly modelFields?: ModelFields
  /** The dialect flags of upstreams. */
  readonly flags?: Flags
}

/** Facts about upstreams of a format that hold for every vendor. */
export interface FormatFacts {
  /** The kinds of work that an upstream of this format can do; the first is what the format is made for. */
  readonly does: readonly Work[]
  /** Whether the version is part of the base URL (`…/v1`) or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
  /** The request for the upstream's list of models; by default `/models`. */
  readonly listing?: Omit<WireRequest, 'body'>
  /** Upstreams make only one image per request. */
  readonly singleImage?: true
  /** The request field that has all inputs embedded as one text, so that they cannot be sent separately. */
  readonly jointInputs?: string
  /** The spelling of a request for a stream with usage, in formats that report usage only on request. */
  readonly usageOnDemand?: JsonObject
}

/** The facts of a format that is addressed and authenticated like OpenAI's. */
export const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** One endpoint that takes requests of the format. */
export interface Endpoint {
  readonly path: string
  /** The path below the format's base address. */
  readonly below: string
  /** A body field by which a request sent to an endpoint of another format is recognized. */
  readonly mark: string
  /** Marks of other endpoints that the format's requests may also have. */
  readonly takes?: readonly string[]
  /** The format's headers. */
  readonly headers: readonly string[]
  /** The format's query parameters; any other concerns this endpoint alone. */
  readonly query?: readonly string[]
  /** It accepts forms: nothing else, or beside JSON. */
  readonly form?: 'only' | 'too'
  /** The format's heartbeat on a silent stream, where a comment is not enough. */
  readonly heartbeat?: WireEvent
  /** The version header callers must send, by its names, the first as in the format. Versions are dates. */
  readonly version?: readonly string[]
}

/** An endpoint at `/v1` of the gateway whose path below the base address has no version. */
export const endpoint = (below: string, mark: string, more: Partial<Endpoint> = {}): Endpoint => ({
  ...{ path: `/v1${below}`, below, mark, headers: [] },
  ...more,
})

/**
 * Paths at which a request of a format may name a model: fields joined by dots, `*` for the items of a list, `|` between
 * spellings of one field, `hosted:` before a field that only tools run by the upstream have. The paths are those of the
 * publishers' descriptions of November 2026. A model that answers nothing is not among them (`moderation.model`).
 */
export interface ModelFields {
  /** The requested model, which the format's reader looks at. */
  readonly requested: readonly string[]
  /** Models that may answer beside it, or instead. */
  readonly others: readonly string[]
  /** Models of the upstream that only help it, such as a transcriber; a channel need not name them. */
  readonly helpers: readonly string[]
}
