import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Segment, TokenLogprob, Word } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'

const FORMAT = 'transcriptions'

/** Further fields that clients' types require of a segment, with neutral values. */
const FIGURES: JsonObject = {
  ...{ seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 },
}

/** The segments of a whole answer; generated fields are reported. */
export const writeSegments = (
  segments: readonly Segment[],
  as: 'verbose' | 'diarized',
  losses: Losses,
): readonly JsonObject[] =>
  segments.map((segment, index) => {
    const path = ['candidates', 0, 'transcript', 'segments', index]
    if (spelt(segment, FORMAT)['own'] !== true) {
      if (as === 'verbose')
        losses.add([...path, 'extras'], { [FORMAT]: { ...FIGURES, ...kept(segment, FORMAT) } }, 'minted-figures')
      else if (segment.speaker === undefined) losses.add([...path, 'speaker'], '', 'minted-speaker')
    }
    return writeSegment(segment, index, as)
  })

/** A segment as it came, or with an id of this format: verbose ones by number, those with speakers by name. */
export function writeSegment(segment: Segment, index: number, as: 'verbose' | 'diarized'): JsonObject {
  const { own, id, type, speaker = 'speaker' } = spelt(segment, FORMAT)
  const { start, end, text } = segment
  const marks =
    own === true
      ? defined({ id, type })
      : as === 'verbose'
        ? { id: index, ...FIGURES }
        : { id: `seg_${index}`, type: 'transcript.text.segment', speaker: '' }
  return {
    ...marks,
    start,
    end,
    text,
    ...(segment.speaker === undefined ? {} : { [speaker as string]: segment.speaker }),
    ...kept(segment, FORMAT),
  } as JsonObject
}

export const writeWord = (word: Word): JsonObject =>
  ({
    ...defined({ word: word.word, start: word.start, end: word.end, speaker: word.speaker }),
    ...kept(word, FORMAT),
  }) as JsonObject

export const writeLogprob = (token: TokenLogprob): JsonObject =>
  ({
    ...defined({ token: token.token, logprob: token.logprob, bytes: token.bytes }),
    ...kept(token, FORMAT),
  }) as JsonObject

export function reportLogprobs(logprobs: readonly TokenLogprob[] | undefined, path: Path, losses: Losses): void {
  logprobs?.forEach(({ top }, index) => {
    if (top !== undefined) losses.drop([...path, 'logprobs', index, 'top'], 'chosen-tokens-only')
  })
}
