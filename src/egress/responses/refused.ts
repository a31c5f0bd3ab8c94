import type { CanonicalError } from '../../canonical/error.ts'
import type { ResultStart } from '../../canonical/event.ts'
import type { WireEvent } from '../../canonical/exchange.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { writeError } from './error.ts'
import { ResponsesStream } from './events.ts'

/**
 * A request too long for the model, told as OpenAI tells it to who asked for a stream: with status 200, in an `error`
 * event and as the response that failed. Codex reads the latter alone and never the body of a 400; opencode and the
 * SDKs read the former (codex-rs `sse/responses.rs`; opencode issue 8089; trap 98).
 */
export function writeRefused(
  error: CanonicalError,
  asked: CanonicalRequest,
  head: Omit<ResultStart, 'type'>,
): readonly WireEvent[] | undefined {
  if (error.kind !== 'context-too-long') return undefined
  const stream = new ResponsesStream(asked)
  const begun = stream.push({ ...head, type: 'result-start' })
  stream.tape.emit('error', writeError(error, '').body)
  return [...begun, ...stream.push({ type: 'error', error })]
}
