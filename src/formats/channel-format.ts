import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'
import type { FunctionModels } from './responses-models.ts'

/**
 * Cloud that requires changes to requests for another vendor's models that it hosts (upstreams/channel/hostings.ts).
 */
export type Hosting = 'vertex-claude' | 'azure-deployment' | 'bedrock-invoke'

/** A family of models that a vendor serves in a way of its own. */
export interface ModelFamily {
  /** Matches names in lower case. */
  readonly name: RegExp
  readonly dialect: JsonObject
  /** True if native callers get the flags, too, because they do not choose what the vendor refuses. */
  readonly native?: true
}

/** Connection settings for one format of a channel's upstream. */
export interface ChannelFormat {
  readonly format: Format
  /** Base URL without a trailing slash. The writer appends its path. */
  readonly baseUrl: string
  readonly auth: AuthStyle
  /** Headers of every request, by lower-case name. Never contain credentials. */
  readonly headers: { readonly [name: string]: string }
  /** Query parameters of every request. */
  readonly query: { readonly [name: string]: string }
  readonly dialect: JsonObject
  /** True if the dialect is that of a model of another family than the native caller named. */
  readonly otherModel?: true
  /** Absent if requests are sent unchanged. */
  readonly hosting?: Hosting
  /** Format of the upstream's errors and token counts. Defaults to this format. */
  readonly errors?: Format
  /** Matches the upstream models available in the format. Defaults to all. */
  readonly servedModels?: RegExp
  /** Matches upstream models for which the format is used only if no other one of the channel does the work. */
  readonly avoidedModels?: RegExp
  /** Matches models that another format of the vendor serves if the request has functions. */
  readonly functionModels?: FunctionModels
  /** Families of models that this vendor serves in a way of its own. The first matching row applies. */
  readonly families?: readonly ModelFamily[]
}
