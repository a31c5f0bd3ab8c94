/**
 * Scores how much of a string a reader understood: the number of values with a canonical meaning, minus twice the
 * number of values that only the format itself has. An answer that ends in an error has the lowest score.
 */
export function understandingScore(value: object): number {
  const { known, unknown } = counts(value)
  return known - 2 * unknown - ((value as { readonly error?: unknown }).error === undefined ? 0 : ERROR_PENALTY)
}

/** Deduction from the score of an answer that ends in an error. */
const ERROR_PENALTY = 1_000_000

function counts(value: unknown): { known: number; unknown: number } {
  const sum = { known: 0, unknown: 0 }
  // Extras count as unknown, and an opaque part as one unknown value, however large it is.
  const rest: (readonly [value: unknown, isKnown: boolean])[] = [[value, true]]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [one, isKnown] = next
    const isOpaque = (one as { readonly type?: unknown } | null)?.type === 'opaque'
    if (typeof one !== 'object' || one === null) sum[isKnown ? 'known' : 'unknown']++
    else if (isOpaque) sum.unknown++
    else
      for (const [key, inner] of Object.entries(one))
        if (key !== 'spelling') rest.push([inner, isKnown && key !== 'extras'])
  }
  return sum
}
