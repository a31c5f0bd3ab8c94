import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'

/** Cloud that changes the requests of a vendor whose models it hosts (upstreams/channel/hostings.ts). */
export type Hosting = 'vertex-claude' | 'azure-deployment' | 'bedrock-invoke'

/** How one format of a channel's upstream is called. */
export interface ChannelFormat {
  readonly format: Format
  /** Base URL without a trailing slash. The writer appends its path. */
  readonly baseUrl: string
  readonly auth: AuthStyle
  /** Headers of every request, names in lower case. Never credentials. */
  readonly headers: { readonly [name: string]: string }
  /** Query parameters of every request. */
  readonly query: { readonly [name: string]: string }
  readonly dialect: JsonObject
  /** Absent if requests go out as the format has them. */
  readonly hosting?: Hosting
  /** The format of the upstream's errors and token counts; absent: this one. */
  readonly errors?: Format
  /** Matches the upstream's models that the format serves; absent: all. */
  readonly servedModels?: RegExp
}
