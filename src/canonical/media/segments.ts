import type { Segment, Word } from '../result.ts'

/** Seconds; length of a silence that ends a segment. */
const SILENCE_SECONDS = 0.8
/** Seconds; maximum length of a segment. */
const MAX_SEGMENT_SECONDS = 7

/** Number of characters of the text in which a word is looked for, because upstreams leave out sounds and fillers. */
const SEARCHED_LENGTH = 200

/**
 * Groups timed words into segments, for upstreams that report no segments. A segment ends with its sentence, when the
 * speaker changes, at a silence, or before it gets too long to read at a glance.
 *
 * @param text the whole transcript, which has no spaces between the words of some languages.
 */
export function segmentsOf(words: readonly Word[], text: string): readonly Segment[] {
  const segments: Segment[] = []
  let openWords: Word[] = []
  let openText = ''
  const closeSegment = (): void => {
    const [first] = openWords
    if (first === undefined) return
    const { start, speaker } = first
    const { end } = openWords.at(-1)!
    segments.push({ start, end, text: openText, ...(speaker === undefined ? {} : { speaker }) })
    openWords = []
    openText = ''
  }
  let position = 0
  for (const word of words) {
    const last = openWords.at(-1)
    if (last !== undefined && endsBefore(word, last, openWords[0]!)) closeSegment()
    const spoken = word.word.trim()
    const distance = text.slice(position, position + SEARCHED_LENGTH + spoken.length).indexOf(spoken)
    const between = text.slice(position, position + Math.max(0, distance))
    if (distance >= 0) position += distance + spoken.length
    if (openWords.length > 0) openText += distance < 0 || /\s/.test(between) ? ' ' : between
    openText += spoken
    openWords.push(word)
  }
  closeSegment()
  return segments
}

/** Matches a character of a language that has no spaces between words, or of its punctuation. */
const SPACELESS = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}\uff00-\uffef]/u

/** Joins the texts of segments, with a space between them unless their language has none. */
export function joinedTexts(texts: readonly string[]): string {
  let [whole, last] = ['', '']
  for (const text of texts) {
    const next = text.trim()
    if (next === '') continue
    const isSpaceless = SPACELESS.test(last.slice(-1)) && SPACELESS.test(next.slice(0, 1))
    whole += whole === '' || isSpaceless ? next : ` ${next}`
    last = next
  }
  return whole
}

const endsBefore = (word: Word, last: Word, first: Word): boolean =>
  word.speaker !== last.speaker ||
  /[.?!。？！…]["'”»)]?$/u.test(last.word.trim()) ||
  word.start - last.end > SILENCE_SECONDS ||
  word.end - first.start > MAX_SEGMENT_SECONDS
