/** Characters counted in one go: a text without spaces costs their square, and no other request is served meanwhile. */
const SLICE = 4096
/** As many slices are counted; of longer texts every so many-th, and the rest is taken to be like them. */
const MOST_SLICES = 100

/** What a vocabulary makes of a text that it may take for special tokens: text like any other. */
const PLAIN = { disallowedSpecial: new Set<string>() }

type CountTokens = (text: string, options: typeof PLAIN) => number

/** The vocabulary takes 70 MB, so it is there from its first use on only. */
let counting: Promise<CountTokens> | undefined

/** About how many tokens the texts have, by the vocabulary of OpenAI's models (o200k); other makers' are much alike. */
export async function tokensIn(texts: readonly string[]): Promise<number> {
  const all = texts.filter(text => text !== '')
  if (all.length === 0) return 0
  counting ??= import('gpt-tokenizer').then(({ countTokens }) => countTokens)
  const count = await counting
  const { slices, share } = sample(all)
  let tokens = 0
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await new Promise(resolve => setImmediate(resolve))
    for (const text of slice) tokens += count(text, PLAIN)
  }
  return Math.ceil(tokens / share)
}

interface Sample {
  /** Short texts stand together. */
  readonly slices: readonly (readonly string[])[]
  /** How much of the texts it is, at most 1. */
  readonly share: number
}

function sample(texts: readonly string[]): Sample {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  const every = Math.max(1, length / (SLICE * MOST_SLICES))
  const slices: string[][] = []
  let slice: string[] = []
  let size = 0
  let taken = 0
  let index = 0
  const close = (): void => {
    if (Math.floor((index + 1) / every) > Math.floor(index / every)) {
      slices.push(slice)
      taken += size
    }
    index++
    slice = []
    size = 0
  }
  for (const text of texts)
    for (let at = 0; at < text.length; ) {
      const piece = text.slice(at, at + SLICE - size)
      slice.push(piece)
      size += piece.length
      at += piece.length
      if (size === SLICE) close()
    }
  if (size > 0 && (slices.length === 0 || every === 1)) {
    slices.push(slice)
    taken += size
  }
  return { slices, share: taken / length }
}
