import type { Segment, Word } from '../result.ts'

/** Seconds; length of a silence that ends a segment. */
const SILENCE_SECONDS = 0.8
/** Seconds; maximum length of a segment. */
const MAX_SEGMENT_SECONDS = 7

/**
 * Groups timed words into segments, for upstreams that report no segments. A segment ends with its sentence, when the
 * speaker changes, at a silence, or before it gets too long to read at a glance.
 */
export function segmentsOf(words: readonly Word[]): readonly Segment[] {
  const segments: Segment[] = []
  let openWords: Word[] = []
  const closeSegment = (): void => {
    const [first] = openWords
    if (first === undefined) return
    const { start, speaker } = first
    const text = openWords.map(({ word }) => word.trim()).join(' ')
    segments.push({ start, end: openWords.at(-1)!.end, text, ...(speaker === undefined ? {} : { speaker }) })
    openWords = []
  }
  for (const word of words) {
    const last = openWords.at(-1)
    if (last !== undefined && endsBefore(word, last, openWords[0]!)) closeSegment()
    openWords.push(word)
  }
  closeSegment()
  return segments
}

const endsBefore = (word: Word, last: Word, first: Word): boolean =>
  word.speaker !== last.speaker ||
  /[.?!。？！…]["'”»)]?$/u.test(last.word.trim()) ||
  word.start - last.end > SILENCE_SECONDS ||
  word.end - first.start > MAX_SEGMENT_SECONDS
