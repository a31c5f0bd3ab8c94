/** Minimum length of the text that is spoken in one request, in characters. */
const MIN_LENGTH = 12
/** Maximum length of the text that is spoken in one request, in characters. */
const MAX_LENGTH = 300

const SENTENCE_END = /[.!?…。！？؟।\n]/
const WORD = /[\p{L}\p{N}]/u

/** Returns true if a text has a letter or digit that can be spoken. */
export const isSpeakable = (text: string): boolean => WORD.test(text)

/**
 * Splits a text stream into sentences without changing the text. A sentence is returned as soon as the next sentence
 * starts.
 */
export class Sentences {
  private readonly segmenter: Intl.Segmenter
  private text = ''

  /** @param language the language of the text as a BCP 47 tag, if known. */
  constructor(language?: string) {
    this.segmenter = segmenterOf(language)
  }

  push(piece: string): readonly string[] {
    this.text += piece
    if (!SENTENCE_END.test(this.text) && this.text.length < MAX_LENGTH) return []
    const found: string[] = []
    for (let end = this.end(); end > 0; end = this.end()) {
      found.push(this.text.slice(0, end))
      this.text = this.text.slice(end)
    }
    return found
  }

  /** Returns the remaining text. The next `push` starts a new text. */
  flush(): string {
    const { text } = this
    this.text = ''
    return text
  }

  /** Returns the index after the first sentence, or 0 while the sentence may still continue. */
  private end(): number {
    const text = this.text.slice(0, MAX_LENGTH)
    let end = 0
    for (const { index, segment } of this.segmenter.segment(text)) {
      end = index + segment.length
      if (end < text.length && text.slice(0, end).trim().length >= MIN_LENGTH) return end
    }
    return text.length < MAX_LENGTH ? 0 : lastBreak(text)
  }
}

/**
 * Returns the index after the last clause of an overlong text. If there is none, returns the index after the last word,
 * or else after the last complete character.
 */
function lastBreak(text: string): number {
  for (const pattern of [/^.*[,;:，、；：]\s*/s, /^.*\s/s]) {
    const end = pattern.exec(text)?.[0].length ?? 0
    if (end >= MIN_LENGTH) return end
  }
  return text.length - (/[\uD800-\uDBFF]$/.test(text) ? 1 : 0)
}

const segmenters = new Map<string, Intl.Segmenter>()
/** Maximum number of cached segmenters. Needed because callers choose the languages. */
const MAX_SEGMENTERS = 100

function segmenterOf(language = 'en'): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known !== undefined) return known
  const segmenter = makeSegmenter(language)
  if (segmenters.size < MAX_SEGMENTERS) segmenters.set(language, segmenter)
  return segmenter
}

function makeSegmenter(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: 'sentence' })
  } catch {
    return new Intl.Segmenter('en', { granularity: 'sentence' })
  }
}
