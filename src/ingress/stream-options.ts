import type { Format, JsonObject, Node } from '../canonical/node.ts'
import { defined, object } from './fields.ts'

/**
 * Adds `stream_options` to a request's node. `include_usage` becomes spelling, because formats without the field always
 * report usage. The other options become extras.
 */
export function withStreamOptions(format: Format, body: JsonObject, { extras }: Node): Node {
  const { include_usage, ...others } = object(body['stream_options']) ?? {}
  return defined({
    extras: Object.keys(others).length === 0 ? extras : { [format]: { ...extras?.[format], stream_options: others } },
    spelling: include_usage === true ? { [format]: { stream_options: { include_usage } } } : undefined,
  })
}
