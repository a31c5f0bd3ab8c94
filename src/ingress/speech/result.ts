import type { MediaSource } from '../../canonical/content.ts'
import { parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { noAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { USUAL_TYPE } from './wire.ts'

/**
 * A whole answer is the recording itself (FORMATS §12): its bytes are passed on unread.
 *
 * @throws GatewayError for anything else: the error in an object, also one that is called a text.
 */
export function readResult({ body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (raw !== undefined && 'bytes' in raw)
    return audioResult({ type: 'bytes', mediaType: typeOf(raw.mediaType, request), bytes: raw.bytes })
  const said = raw === undefined ? body : (parseObject(raw.text) ?? {})
  throw noAnswer(said, 'is no audio', readInnerError)
}

const audioResult = (source: MediaSource): CanonicalResult => ({
  candidates: [{ content: [{ type: 'media', kind: 'audio', source }], finish: { reason: 'stop' } }],
})

/** An upstream's generic media type is replaced by the one requested. */
const typeOf = (declared: string, request: CanonicalRequest): string =>
  /^audio\//i.test(declared) ? declared : requestedType(request)

export const requestedType = ({ output }: CanonicalRequest): string => output.audio?.mediaType ?? USUAL_TYPE
