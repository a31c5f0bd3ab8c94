import type { Format, JsonObject, Node } from '../canonical/node.ts'
import { object } from './fields.ts'

/** Whether a stream reports usage is the caller's spelling: every format without `stream_options` always reports it. */
export function withStreamOptions(format: Format, body: JsonObject, node: Node): Node {
  const options = object(body['stream_options'])
  if (options === undefined) return node
  const { include_usage, ...others } = options
  const spelt = { ...node.spelling?.[format], stream_options: include_usage === undefined ? {} : { include_usage } }
  const extras =
    Object.keys(others).length === 0 ? node.extras?.[format] : { ...node.extras?.[format], stream_options: others }
  return { ...(extras === undefined ? {} : { extras: { [format]: extras } }), spelling: { [format]: spelt } }
}
