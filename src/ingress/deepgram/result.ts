import { GatewayError } from '../../canonical/error.ts'
import { segmentsOf } from '../../canonical/media/segments.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Segment, Word } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObject, anyObjects, anyText } from '../fields.ts'
import { timesOf, transcriptResult } from '../media/transcript.ts'
import { readError } from './error.ts'

/** Reads the transcript of `/v1/listen`: the first alternative of the first channel, with the requested times. */
export function readResult({ status, headers, body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const [channel] = anyObjects(anyObject(body['results'])?.['channels'])
  const [reading] = anyObjects(channel?.['alternatives'])
  const text = anyText(reading?.['transcript'])
  if (channel === undefined || reading === undefined || text === undefined)
    throw new GatewayError(readError({ status: Math.max(status, 502), headers, body }))
  const { language, speakers } = request.output.transcript ?? {}
  const metadata = anyObject(body['metadata'])
  const words = anyObjects(reading['words']).flatMap(wire => readWord(wire, speakers))
  const facts = {
    language: anyText(channel['detected_language']) ?? language,
    duration: anyNumber(metadata?.['duration']),
    segments: readSegments(body, words, text, speakers),
    words,
  }
  return transcriptResult(anyText(metadata?.['request_id']), text, facts, request)
}

/** Reads Deepgram's utterances as segments. Without utterances, builds segments from the words. */
function readSegments(
  body: JsonObject,
  words: readonly Word[],
  wholeText: string,
  speakers: boolean | undefined,
): readonly Segment[] {
  const utterances = anyObjects(anyObject(body['results'])?.['utterances']).flatMap(wire => {
    const text = anyText(wire['transcript'])
    const times = timesOf(wire)
    return text === undefined || times === undefined ? [] : [{ ...times, text, ...speakerOf(wire, speakers) }]
  })
  return utterances.length > 0 ? utterances : segmentsOf(words, wholeText)
}

function readWord(wire: JsonObject, speakers: boolean | undefined): Word[] {
  const word = anyText(wire['punctuated_word']) ?? anyText(wire['word'])
  const times = timesOf(wire)
  return word === undefined || times === undefined ? [] : [{ ...times, word, ...speakerOf(wire, speakers) }]
}

/** Reads the speaker, a number starting at 0, if the request asks for speakers. */
function speakerOf(wire: JsonObject, hasSpeakers: boolean | undefined): { readonly speaker?: string } {
  const speaker = hasSpeakers === true ? anyNumber(wire['speaker']) : undefined
  return speaker === undefined ? {} : { speaker: String(speaker) }
}
