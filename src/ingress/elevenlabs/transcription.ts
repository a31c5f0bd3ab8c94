import { GatewayError } from '../../canonical/error.ts'
import { segmentsOf } from '../../canonical/media/segments.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Word } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObjects, anyText, defined } from '../fields.ts'
import { readError } from './error.ts'

/**
 * The transcript of `/v1/speech-to-text`, with the times that were requested; segments are made of its words.
 *
 * @throws GatewayError for any other body.
 */
export function readTranscription({ status, headers, body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const text = anyText(body['text'])
  if (text === undefined) throw new GatewayError(readError({ status: Math.max(status, 502), headers, body }))
  const { timestamps, speakers } = request.output.transcript ?? {}
  const words = anyObjects(body['words']).flatMap(wire => readWord(wire, speakers))
  const facts = {
    language: anyText(body['language_code']),
    duration: anyNumber(body['audio_duration_secs']),
    segments: segmentsOf(words),
    words: timestamps?.includes('word') === true ? words : undefined,
  }
  const wanted = timestamps !== undefined || speakers === true
  return {
    ...defined({ id: anyText(body['transcription_id']) }),
    candidates: [
      {
        content: [{ type: 'text', text }],
        finish: { reason: 'stop' },
        ...(wanted ? { transcript: defined(facts) } : {}),
      },
    ],
  }
}

/** Spaces and other sounds have times of their own and are left out, and so are speakers where the request has none. */
function readWord(wire: JsonObject, speakers: boolean | undefined): Word[] {
  const word = anyText(wire['text'])
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  if ((wire['type'] ?? 'word') !== 'word' || word === undefined || start === undefined || end === undefined) return []
  return [{ start, end, word, ...defined({ speaker: speakers === true ? anyText(wire['speaker_id']) : undefined }) }]
}
