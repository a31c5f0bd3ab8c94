import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Segment, TokenLogprob, Word } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'

const FORMAT = 'transcriptions'

/** A segment as it came, or as this format numbers its own: verbose ones by number, those with speakers by name. */
export function writeSegment(segment: Segment, index: number, as: 'verbose' | 'diarized'): JsonObject {
  const { own, id, type, speaker = 'speaker' } = spelt(segment, FORMAT)
  const { start, end, text } = segment
  const marks =
    own === true
      ? defined({ id, type })
      : as === 'verbose'
        ? { id: index }
        : { id: `seg_${index}`, type: 'transcript.text.segment' }
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
