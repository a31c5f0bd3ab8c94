import type { MediaSource } from '../../canonical/content.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import { parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { DEFAULT_TYPE } from './wire.ts'

/**
 * Reads a whole answer, which is the recording itself (docs/wire/speech.md#response). The bytes are passed on unread.
 * Mistral's answer is an object that holds it.
 *
 * @throws GatewayError for anything else, such as an error object, even if it is declared as text.
 */
export function readResult({ body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (raw !== undefined && 'bytes' in raw)
    return audioResult({ type: 'bytes', mediaType: typeOf(raw.mediaType, request), bytes: raw.bytes })
  const answer = raw === undefined ? body : (parseObject(raw.text) ?? {})
  const data = answer['audio_data']
  if (typeof data === 'string' && data !== '')
    return audioResult({ type: 'base64', mediaType: typeOf(sniffBase64(data) ?? '', request), data })
  throw faultyAnswer(answer, 'is not audio', readInnerError)
}

const audioResult = (source: MediaSource): CanonicalResult => ({
  candidates: [{ content: [{ type: 'media', kind: 'audio', source }], finish: { reason: 'stop' } }],
})

/** Returns the media type: the declared type if it is audio, otherwise the requested type. */
const typeOf = (declaredType: string, request: CanonicalRequest): string =>
  /^audio\//i.test(declaredType) ? declaredType : requestedType(request)

/** Returns the media type that the request asks for. */
export const requestedType = ({ output }: CanonicalRequest): string => output.audio?.mediaType ?? DEFAULT_TYPE
