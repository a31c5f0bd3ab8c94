import type { RawAnswer } from '../../format.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type MediaUsage, mediaUsage } from '../../media/usage.ts'
import { cuesOf, isSubtitles, type SegmentFacts } from './subtitles.ts'

/* Extracts the facts of a transcript. */

export interface TranscriptFacts {
  readonly text?: string
  readonly language?: string
  /** Duration of the recording, in seconds. */
  readonly duration?: number
  readonly segments?: readonly SegmentFacts[]
  readonly words?: readonly SegmentFacts[]
  /** Tokens with their log probabilities. */
  readonly logprobs?: readonly { readonly token?: string; readonly logprob?: number }[]
  readonly usage?: MediaUsage
}

function segmentFacts(value: Json): SegmentFacts {
  const { start, end, text, word, speaker } = objectOf(value)
  return compact({
    start: numberOf(start),
    end: numberOf(end),
    text: textOf(text) ?? textOf(word),
    speaker: textOf(speaker),
  })
}

function tokenFacts(value: Json) {
  const { token, logprob } = objectOf(value)
  return compact({ token: textOf(token), logprob: numberOf(logprob) })
}

function rawFacts(text: string): TranscriptFacts {
  return isSubtitles(text) ? { segments: cuesOf(text) } : compact({ text: text || undefined })
}

/** Returns the facts of a JSON answer, of plain text or subtitles, or of an assembled stream. */
export function answerFacts(body: JsonObject, raw?: RawAnswer): TranscriptFacts {
  if (raw !== undefined) return rawFacts(raw.bytes.toString('utf8'))
  return compact({
    text: textOf(body['text']),
    language: textOf(body['language']),
    duration: numberOf(body['duration']),
    segments: listOf(body['segments']).map(segmentFacts),
    words: listOf(body['words']).map(segmentFacts),
    logprobs: listOf(body['logprobs']).map(tokenFacts),
    usage: mediaUsage(objectOf(body['usage'])),
  }) as TranscriptFacts
}
