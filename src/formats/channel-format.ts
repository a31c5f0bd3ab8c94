import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'

/** How the upstream of a channel is addressed in one format. */
export interface ChannelFormat {
  readonly format: Format
  /** Without a slash at its end; a writer's path is appended to it. */
  readonly baseUrl: string
  readonly auth: AuthStyle
  /** Sent with every request, names in lower case; credentials are not among them. */
  readonly headers: { readonly [name: string]: string }
  /** Added to the query of every request. */
  readonly query: { readonly [name: string]: string }
  readonly dialect: JsonObject
}
