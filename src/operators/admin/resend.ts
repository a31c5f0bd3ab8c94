import { GatewayError } from '../../canonical/error.ts'
import { isObject } from '../../canonical/node.ts'
import type { CaptureDocument } from '../../gateway/capture/shapes.ts'
import { NoReply, REMOVED } from '../../gateway/captured.ts'
import type { Administration } from './administration.ts'
import { Problem } from './problem.ts'

/** Headers that belong to one connection or body and are not resent. */
const CONNECTION_HEADERS = /^(host|connection|content-length|transfer-encoding|accept-encoding|upgrade|sec-.*)$/

/**
 * Sends a captured request again with its key. The new request is always captured, even if the key's requests are not.
 *
 * @param channel the only channel that may answer. Without it, the request is routed normally.
 * @returns the id of the new request.
 * @throws Problem `not-repeatable`, or GatewayError if keys cannot be read.
 */
export function resend(gateway: Administration, captured: CaptureDocument, channel: string | undefined): string {
  const { caller, cut, id, key } = captured
  if (!isObject(caller.body) || caller.files !== undefined) throw new Problem('not-repeatable', UNUSABLE_BODY)
  if (cut.some(pointer => pointer.startsWith('/caller'))) throw new Problem('not-repeatable', TRUNCATED_BODY)
  const { path, query, headers, body } = caller
  try {
    const as = { ...gateway.callerOf(key, channel), captureUntil: Number.POSITIVE_INFINITY }
    const request = { path, query: withoutRemoved(query), headers: resentHeaders(headers), body, as, repeats: id }
    return gateway.callerRequests!.send(request, new NoReply()).id
  } catch (thrown) {
    // The key is no longer valid or may not use the channel, or the path is not a model endpoint.
    if (thrown instanceof GatewayError && thrown.error.kind !== 'overloaded')
      throw new Problem('not-repeatable', thrown.error.message)
    throw thrown
  }
}

const UNUSABLE_BODY = 'Only requests with a valid JSON body can be sent again; form files are not captured.'
const TRUNCATED_BODY = 'The body was too large to be captured completely.'

type HeaderFields = { readonly [name: string]: string }

const withoutRemoved = (fields: HeaderFields): HeaderFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !value.includes(REMOVED)))

const resentHeaders = (headers: HeaderFields): HeaderFields =>
  Object.fromEntries(Object.entries(withoutRemoved(headers)).filter(([name]) => !CONNECTION_HEADERS.test(name)))
