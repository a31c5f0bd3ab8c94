import { loadOnce } from '../../canonical/load-once.ts'

/**
 * Number of characters tokenised per turn of the event loop. A string without spaces takes quadratic time, during which
 * no other request is served.
 */
const SLICE_LENGTH = 4096
/** Maximum number of slices that are tokenised. Longer texts are sampled at regular intervals and extrapolated. */
const MAX_SLICES = 100

/** Options by which the vocabulary's special tokens count as ordinary text. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

type CountTokens = (text: string, options: typeof PLAIN_TEXT) => number

/** The tokeniser, loaded on first use because its vocabulary takes 70 MB. */
const tokeniser = loadOnce<CountTokens>(async () => (await import('gpt-tokenizer')).countTokens)

/**
 * Estimates the tokens of texts with the vocabulary of OpenAI's models (o200k). Other vendors' vocabularies are
 * similar.
 */
export async function tokensIn(texts: readonly string[]): Promise<number> {
  const nonEmptyTexts = texts.filter(text => text !== '')
  if (nonEmptyTexts.length === 0) return 0
  const count = await tokeniser()
  const { slices, share } = sample(nonEmptyTexts)
  let tokens = 0
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await new Promise(resolve => setImmediate(resolve))
    for (const text of slice) tokens += count(text, PLAIN_TEXT)
  }
  return Math.ceil(tokens / share)
}

interface Sample {
  /** Slices of the texts. Short texts share a slice. */
  readonly slices: readonly (readonly string[])[]
  /** Share of all text that was sampled, at most 1. */
  readonly share: number
}

/** Cuts texts into slices and selects an even sample of them. */
function sample(texts: readonly string[]): Sample {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  const interval = Math.max(1, length / (SLICE_LENGTH * MAX_SLICES))
  const slices: string[][] = []
  let slice: string[] = []
  let size = 0
  let sampledLength = 0
  let index = 0
  const closeSlice = (): void => {
    if (Math.floor((index + 1) / interval) > Math.floor(index / interval)) {
      slices.push(slice)
      sampledLength += size
    }
    index++
    slice = []
    size = 0
  }
  for (const text of texts)
    for (let at = 0; at < text.length; ) {
      const piece = text.slice(at, at + SLICE_LENGTH - size)
      slice.push(piece)
      size += piece.length
      at += piece.length
      if (size === SLICE_LENGTH) closeSlice()
    }
  if (size > 0 && (slices.length === 0 || interval === 1)) {
    slices.push(slice)
    sampledLength += size
  }
  return { slices, share: sampledLength / length }
}
