/** Letters that are spoken at once, at least, and at most. */
const SHORTEST = 12
const LONGEST = 300

const ENDS = /[.!?…。！？؟।\n]/
const WORD = /[\p{L}\p{N}]/u

/** Whether there is anything to speak in a text. */
export const isSpeakable = (text: string): boolean => WORD.test(text)

/** A text that comes in pieces, as sentences: nothing is left out or changed, and each is there as soon as the next begins. */
export class Sentences {
  private readonly segmenter: Intl.Segmenter
  private text = ''

  /** @param language of the text, where that is known: a BCP 47 tag. */
  constructor(language?: string) {
    this.segmenter = segmenterOf(language)
  }

  push(piece: string): readonly string[] {
    this.text += piece
    if (!ENDS.test(this.text) && this.text.length < LONGEST) return []
    const found: string[] = []
    for (let end = this.end(); end > 0; end = this.end()) {
      found.push(this.text.slice(0, end))
      this.text = this.text.slice(end)
    }
    return found
  }

  /** What is left. The next `push` begins anew. */
  flush(): string {
    const { text } = this
    this.text = ''
    return text
  }

  /** Where the first sentence ends, 0 while it may go on. */
  private end(): number {
    const text = this.text.slice(0, LONGEST)
    let end = 0
    for (const { index, segment } of this.segmenter.segment(text)) {
      end = index + segment.length
      if (end < text.length && text.slice(0, end).trim().length >= SHORTEST) return end
    }
    return text.length < LONGEST ? 0 : lastBreak(text)
  }
}

/** The end of the last clause, else of the last word, else of the last whole character. */
function lastBreak(text: string): number {
  for (const pattern of [/^.*[,;:，、；：]\s*/s, /^.*\s/s]) {
    const end = pattern.exec(text)?.[0].length ?? 0
    if (end >= SHORTEST) return end
  }
  return text.length - (/[\uD800-\uDBFF]$/.test(text) ? 1 : 0)
}

const segmenters = new Map<string, Intl.Segmenter>()
const MOST = 100

function segmenterOf(language = 'en'): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known !== undefined) return known
  const made = makeSegmenter(language)
  if (segmenters.size < MOST) segmenters.set(language, made)
  return made
}

function makeSegmenter(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: 'sentence' })
  } catch {
    return new Intl.Segmenter('en', { granularity: 'sentence' })
  }
}
