import type { Segment, Word } from '../result.ts'

/** Length of a silence that ends a segment, and maximum length of a segment, in seconds. */
const SILENCE_SECONDS = 0.8
const MAX_SEGMENT_SECONDS = 7

/**
 * Groups timed words into segments, for upstreams that report no segments. A segment ends with its sentence, when the
 * speaker changes, at a silence, or before it gets too long to read at a glance.
 */
export function segmentsOf(words: readonly Word[]): readonly Segment[] {
  const segments: Segment[] = []
  let open: Word[] = []
  const close = (): void => {
    const [first] = open
    if (first === undefined) return
    const { start, speaker } = first
    const text = open.map(({ word }) => word.trim()).join(' ')
    segments.push({ start, end: open.at(-1)!.end, text, ...(speaker === undefined ? {} : { speaker }) })
    open = []
  }
  for (const word of words) {
    const last = open.at(-1)
    if (last !== undefined && endsBefore(word, last, open[0]!)) close()
    open.push(word)
  }
  close()
  return segments
}

const endsBefore = (word: Word, last: Word, first: Word): boolean =>
  word.speaker !== last.speaker ||
  /[.?!。？！…]["'”»)]?$/u.test(last.word.trim()) ||
  word.start - last.end > SILENCE_SECONDS ||
  word.end - first.start > MAX_SEGMENT_SECONDS
