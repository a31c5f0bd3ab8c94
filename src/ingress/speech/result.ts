import type { MediaSource } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { USUAL_TYPE } from './containers.ts'

/** A whole answer is the recording itself (FORMATS §12): its bytes are not looked at, only passed on. */
export function readResult({ body, raw }: WireAnswer, asked: CanonicalRequest): CanonicalResult {
  if (raw !== undefined && 'bytes' in raw)
    return spoken({ type: 'bytes', mediaType: typeOf(raw.mediaType, asked), bytes: raw.bytes })
  throw new GatewayError(body['error'] == null ? NOT_AUDIO : readInnerError(body))
}

const NOT_AUDIO = { kind: 'upstream-failed', message: 'The upstream sent something that is no audio.' } as const

const spoken = (source: MediaSource): CanonicalResult => ({
  candidates: [{ content: [{ type: 'media', kind: 'audio', source }], finish: { reason: 'stop' } }],
})

/** What an upstream calls mere bytes is what it was asked for. */
const typeOf = (said: string, asked: CanonicalRequest): string => (/^audio\//i.test(said) ? said : askedType(asked))

export const askedType = ({ output }: CanonicalRequest): string => output.audio?.mediaType ?? USUAL_TYPE
