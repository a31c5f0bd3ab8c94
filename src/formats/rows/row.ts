import type { Format, JsonObject } from '../../canonical/node.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import type { Work } from '../../canonical/work.ts'
import type { AuthStyle } from '../auth.ts'
import type { Flags } from '../dialects/flag.ts'

/** All facts about a format, except for its readers and writers. */
export interface FormatRow {
  readonly name: FormatName
  /** Facts about upstreams of the format. Absent if the gateway calls no upstreams in it. */
  readonly upstream?: FormatFacts
  /**
   * Kinds of work that callers request in the format. Absent if callers cannot use it. Token counting is not listed,
   * because the gateway can estimate the tokens of any model.
   */
  readonly callers?: readonly Work[]
  /** Endpoints with fixed paths. */
  readonly endpoints?: readonly Endpoint[]
  /** Endpoints whose paths contain the model. */
  readonly methods?: ModelMethods
  /** Matches other paths of the format, so that their errors are written in it. */
  readonly otherPaths?: RegExp
  /** Request fields that may contain a model name. Defaults to `model` and `COMMON_MODEL_FIELDS`. */
  readonly modelFields?: ModelFields
  /** Dialect flags of upstreams. */
  readonly flags?: Flags
}

/** Display names of a format in the console. */
export interface FormatName {
  readonly en: string
  /** Chinese name. Defaults to the English name. */
  readonly zh?: string
  /** Name for narrow columns, in both languages. Defaults to the full name without the part in brackets. */
  readonly short?: string
}

/** Facts about upstreams of a format that hold for every vendor. */
export interface FormatFacts {
  /** Kinds of work that an upstream of this format can do. The format is designed for the first one. */
  readonly does: readonly Work[]
  /** Position of the version: in the base URL (`…/v1`) or in the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
  /** Request for the upstream's model list. Defaults to `/models`. */
  readonly listing?: ListingEndpoint
  /** True if upstreams generate only one image per request. */
  readonly singleImage?: true
  /** Request field that makes an upstream embed all inputs as one text, so that they cannot be sent separately. */
  readonly jointInputs?: string
  /** Fields that request usage in a stream, for formats that only report it on request. */
  readonly usageOnDemand?: JsonObject
}

/** Returns the facts for a format with the same addressing and authentication as OpenAI's. */
export const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** An endpoint for requests of the format. */
export interface Endpoint {
  readonly path: string
  /** Path below the format's base URL. */
  readonly below: string
  /** Body field that identifies the endpoint's requests, even if they are sent to another endpoint. */
  readonly mark: string
  /** Marks of other endpoints that requests of this endpoint may also contain. */
  readonly takes?: readonly string[]
  /** Names of the format's request headers. */
  readonly headers: readonly string[]
  /** Names of the format's query parameters. Other parameters are meant for the gateway and are not passed on. */
  readonly query?: readonly string[]
  /** Set if the endpoint accepts forms: `only` forms, or forms `too`, in addition to JSON. */
  readonly form?: 'only' | 'too'
  /** Encoding of streamed answers. Defaults to server-sent events. */
  readonly framing?: 'array' | 'frames' | 'chunks'
  /** The format of errors, if it is not the endpoint's own. */
  readonly errors?: Format
  /** True if a body may contain a request in the model's own format, which is then unwrapped. */
  readonly wraps?: true
  /** Additional answer header with the request id. */
  readonly idHeader?: string
  /** Event sent on a silent stream if a comment is not enough. */
  readonly heartbeat?: WireEvent
  /** Names of the required version header, starting with the format's own. Versions are dates. */
  readonly version?: readonly string[]
  /** True if a request without the version header is of the usual version. */
  readonly versionOptional?: boolean
}

/** The endpoints of a format whose paths contain the model. */
export interface ModelMethods {
  /** Matches a path. Captures the method, and the model exactly as spelled in the path. */
  readonly path: RegExp
  /** Endpoints by method, the most common one first. */
  readonly endpoints: ReadonlyMap<string, MethodEndpoint>
  /** Returns the path below the base URL for a model as captured by `path`. */
  readonly below: (model: string, method: string) => string
  /** Returns the path below the base URL for a plain model name. */
  readonly pathOf: (model: string, method: string) => string
}

/** An endpoint whose path contains the model. */
export interface MethodEndpoint extends Omit<Endpoint, 'below'> {
  /** True if the path itself requests a stream. */
  readonly streams?: true
}

/** Creates an endpoint at `/v1` whose path below the base URL has no version. */
export const endpoint = (below: string, mark: string, overrides: Partial<Endpoint> = {}): Endpoint => ({
  ...{ path: `/v1${below}`, below, mark, headers: [] },
  ...overrides,
})

/**
 * Paths at which a request in a format may contain a model name. Fields are joined with dots, `*` matches all items of
 * a list, `|` separates spellings of one field, and `hosted:` precedes a field that only hosted tools have. The paths
 * follow the vendors' API descriptions of November 2026. Models that do not answer are not included
 * (`moderation.model`).
 */
export interface ModelFields {
  /** The requested model, where the format's reader finds it. */
  readonly requested: readonly string[]
  /** Models that may answer in addition to the requested model, or instead of it. */
  readonly others: readonly string[]
  /** Upstream models that only assist, such as a transcriber. A channel does not have to list them. */
  readonly helpers: readonly string[]
}

/** The endpoint at which a format's upstreams list their models. */
interface ListingEndpoint extends Omit<WireRequest, 'body'> {
  /** Header for the format's version. Absent if the format has no such header. */
  readonly versionHeader?: string
}
