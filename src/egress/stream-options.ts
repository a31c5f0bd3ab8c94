import type { Format, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { spellingFor } from './fields.ts'
import { type NativeRequest, withFields } from './native.ts'

/*
 * Stream options that request usage. Without these options, streams of chat and text completions have no usage
 * (docs/wire/chat.md#stream).
 */

const USAGE_OPTION = { include_usage: true } as const

/** Returns true if the caller requested usage in the stream. */
export const wantsUsage = (request: CanonicalRequest, format: Format): boolean =>
  (spellingFor(request, format)['stream_options'] as JsonObject | undefined)?.['include_usage'] === true

/**
 * Returns the stream fields of a request. Empty if the caller did not request a stream.
 *
 * @param withUsage whether to request usage.
 * @param extras the format's extras of the request.
 */
export function streamFields({ stream }: CanonicalRequest, withUsage: boolean, extras: JsonObject): JsonObject {
  if (!stream) return {}
  const options = { ...(withUsage ? USAGE_OPTION : {}), ...(extras['stream_options'] as JsonObject | undefined) }
  return { stream, ...(Object.keys(options).length === 0 ? {} : { stream_options: options }) }
}

/**
 * Returns the caller's original body with the model, the `changed` fields and the stream setting of the canonical
 * request. A channel may be configured to request usage in every stream, for the usage log (trap 22).
 */
export function nativeRequestBody(
  { model, stream }: CanonicalRequest,
  { node, wire: { body } }: NativeRequest,
  withUsage: boolean,
  changed: JsonObject = {},
): JsonObject {
  const options = body['stream_options'] as JsonObject | null | undefined
  const fields = {
    ...(model === node.model ? {} : { model }),
    ...changed,
    ...(stream === node.stream ? {} : { stream }),
    ...(stream && withUsage && options?.['include_usage'] !== true
      ? { stream_options: { ...options, ...USAGE_OPTION } }
      : {}),
  }
  // OpenAI refuses `stream_options` without `stream`.
  return withFields(body, fields, node.stream && !stream && options !== undefined ? ['stream_options'] : [])
}
