import type { Format, JsonObject } from '../../canonical/node.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import type { Work } from '../../canonical/work.ts'
import type { AuthStyle } from '../auth.ts'
import type { Flags } from '../dialects/flag.ts'

/** Everything that the gateway knows about a format, except how to read and write it. */
export interface FormatRow {
  readonly name: FormatName
  /** Facts about upstreams of the format. Absent if the gateway calls none. */
  readonly upstream?: FormatFacts
  /**
   * The kinds of work that callers request in the format. Absent if no caller speaks it. Token counting is not
   * listed, because the gateway can estimate the tokens of any model.
   */
  readonly callers?: readonly Work[]
  /** Endpoints with fixed paths. */
  readonly endpoints?: readonly Endpoint[]
  /** Endpoints whose paths contain the model. */
  readonly methods?: ModelMethods
  /** Further paths of the format, whose errors are written in it. */
  readonly otherPaths?: RegExp
  /** The request fields that may name a model. By default `model` and the fields of `ANYWHERE`. */
  readonly modelFields?: ModelFields
  /** The dialect flags of upstreams. */
  readonly flags?: Flags
}

/** Display names of a format in the console. */
export interface FormatName {
  readonly en: string
  /** Chinese name. By default the English one. */
  readonly zh?: string
  /** Name for narrow columns, in both languages. By default the full name without the part in brackets. */
  readonly short?: string
}

/** Facts about upstreams of a format that hold for every vendor. */
export interface FormatFacts {
  /** The kinds of work that an upstream of this format can do. The first is what the format is made for. */
  readonly does: readonly Work[]
  /** Whether the version is part of the base URL (`…/v1`) or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
  /** The request for the upstream's list of models. By default `/models`. */
  readonly listing?: ListingEndpoint
  /** Whether upstreams make only one image per request. */
  readonly singleImage?: true
  /** The request field that makes an upstream embed all inputs as one text. Such inputs cannot be sent separately. */
  readonly jointInputs?: string
  /** The fields that ask for usage in a stream, for formats that report it only on request. */
  readonly usageOnDemand?: JsonObject
}

/** The facts of a format that is addressed and authenticated like OpenAI's. */
export const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** An endpoint for requests of the format. */
export interface Endpoint {
  readonly path: string
  /** The path below the format's base URL. */
  readonly below: string
  /** A body field that identifies the endpoint's requests, even if they are sent to another endpoint. */
  readonly mark: string
  /** Marks of other endpoints that requests of this endpoint may also contain. */
  readonly takes?: readonly string[]
  /** Names of the format's request headers. */
  readonly headers: readonly string[]
  /** Names of the format's query parameters. Other parameters are meant for the gateway and are not passed on. */
  readonly query?: readonly string[]
  /** Whether the endpoint accepts only forms, or forms and JSON. */
  readonly form?: 'only' | 'too'
  /** The encoding of streamed answers. By default server-sent events. */
  readonly framing?: 'array' | 'frames' | 'chunks'
  /** The format of errors, if it is not the endpoint's own. */
  readonly errors?: Format
  /** Whether a body may contain a request in the model's own format, which is then unwrapped. */
  readonly wraps?: true
  /** An additional header of answers that carries the request id. */
  readonly idHeader?: string
  /** The event sent on a silent stream, if a comment is not enough. */
  readonly heartbeat?: WireEvent
  /** Names of the required version header, the format's own first. Versions are dates. */
  readonly version?: readonly string[]
}

/** The endpoints of a format whose paths contain the model. */
export interface ModelMethods {
  /** Matches a path. Captures the model, exactly as the path spells it, and the method. */
  readonly path: RegExp
  /** The endpoints by method. The first one is the usual one. */
  readonly endpoints: ReadonlyMap<string, MethodEndpoint>
  /** Returns the path below the base URL for a model as captured by `path`. */
  readonly below: (model: string, method: string) => string
  /** Returns the path below the base URL for the plain name of a model. */
  readonly pathOf: (model: string, method: string) => string
}

/** An endpoint whose path contains the model. */
export interface MethodEndpoint extends Omit<Endpoint, 'below'> {
  /** Whether the path itself asks for a stream. */
  readonly streams?: true
}

/** Builds an endpoint at `/v1` whose path below the base URL has no version. */
export const endpoint = (below: string, mark: string, more: Partial<Endpoint> = {}): Endpoint => ({
  ...{ path: `/v1${below}`, below, mark, headers: [] },
  ...more,
})

/**
 * Paths at which a request of a format may name a model. Fields are joined by dots, `*` stands for the items of a list,
 * `|` separates spellings of one field, and `hosted:` precedes a field that only tools run by the upstream have. The
 * paths follow the vendors' API descriptions of November 2026. Models that do not answer are not included
 * (`moderation.model`).
 */
export interface ModelFields {
  /** The requested model, as the format's reader finds it. */
  readonly requested: readonly string[]
  /** Models that may answer in addition to the requested one or instead of it. */
  readonly others: readonly string[]
  /** Upstream models that only assist, such as a transcriber. A channel need not name them. */
  readonly helpers: readonly string[]
}

/** The endpoint where upstreams of a format list their models. */
interface ListingEndpoint extends Omit<WireRequest, 'body'> {
  /** Header that carries the version of the format. Absent if the format has no such header. */
  readonly versionHeader?: string
}
