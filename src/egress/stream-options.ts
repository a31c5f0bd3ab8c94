import type { Format, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { spelt } from './fields.ts'
import { type ReadRequest, withFields } from './own.ts'

/* A stream of chat completions or text completions has usage only on request (docs/wire/chat.md#stream). */

const COUNTED = { include_usage: true } as const

/** Whether the caller wants to see the usage of the stream. */
export const wantsUsage = (request: CanonicalRequest, format: Format): boolean =>
  (spelt(request, format)['stream_options'] as JsonObject | undefined)?.['include_usage'] === true

/** The fields of a request for a stream, if it is one; `extras` are those of the format that the request has. */
export function streamFields({ stream }: CanonicalRequest, isCounted: boolean, extras: JsonObject): JsonObject {
  if (!stream) return {}
  const options = { ...(isCounted ? COUNTED : {}), ...(extras['stream_options'] as JsonObject | undefined) }
  return { stream, ...(Object.keys(options).length === 0 ? {} : { stream_options: options }) }
}

/**
 * The body of a request as it came, but for its model and for what else is written anew. A channel may always request
 * the usage of a stream, for its log (trap 22).
 */
export function ownBodyOf(
  { model, stream }: CanonicalRequest,
  { node, wire: { body } }: ReadRequest,
  isCounted: boolean,
  changed: JsonObject = {},
): JsonObject {
  const options = body['stream_options'] as JsonObject | null | undefined
  const fields = {
    ...(model === node.model ? {} : { model }),
    ...changed,
    ...(stream === node.stream ? {} : { stream }),
    ...(stream && isCounted && options?.['include_usage'] !== true
      ? { stream_options: { ...options, ...COUNTED } }
      : {}),
  }
  // Options of a stream are refused where there is none.
  return withFields(body, fields, node.stream && !stream && options !== undefined ? ['stream_options'] : [])
}
