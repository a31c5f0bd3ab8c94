import type { CanonicalError } from '../../canonical/error.ts'
import type { ResultStart } from '../../canonical/event.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { failureOf } from './error.ts'
import { ResponsesStream } from './events.ts'

/**
 * A request that is too long for the model, in the form in which OpenAI answers streaming requests: with status 200, as
 * an `error` event and as a failed response. Codex reads only the latter and never the body of a 400; opencode and the
 * SDKs read the former (codex-rs `sse/responses.rs`, opencode issue 8089; trap 98). On a socket the former would end
 * the turn before the latter.
 */
export function writeRefused(
  error: CanonicalError,
  request: CanonicalRequest,
  head: Omit<ResultStart, 'type'>,
  socket: boolean,
): readonly WireEvent[] | undefined {
  if (error.kind !== 'context-too-long') return undefined
  const stream = new ResponsesStream(request)
  const begun = stream.push({ ...head, type: 'result-start' })
  if (!socket) stream.events.emit('error', flatAndNested(error))
  return [...begun, ...stream.push({ type: 'error', error })]
}

/** The event is documented as flat; OpenAI sends it nested, and clients read one or the other (FORMATS §§5, 15). */
function flatAndNested(error: CanonicalError): JsonObject {
  const { code, message, type, param = null } = failureOf(error)
  return { code: code!, message: message!, param, error: { type: type!, code: code!, message: message!, param } }
}
