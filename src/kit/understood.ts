/**
 * How much of what was read has a meaning: the values in it, less what only its own format has. Larger is better; an
 * answer that ends in an error is understood least.
 */
export function understood(value: object): number {
  const { known, unknown } = counts(value)
  return known - 2 * unknown - ((value as { readonly error?: unknown }).error === undefined ? 0 : ERROR)
}

const ERROR = 1_000_000

function counts(value: unknown): { known: number; unknown: number } {
  const sum = { known: 0, unknown: 0 }
  // Another format's fields, and parts of which only the place is known.
  const rest: (readonly [value: unknown, isKnown: boolean])[] = [[value, true]]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [one, isKnown] = next
    if (typeof one !== 'object' || one === null) sum[isKnown ? 'known' : 'unknown']++
    else
      for (const [key, inner] of Object.entries(one))
        if (key !== 'spelling')
          rest.push([inner, isKnown && key !== 'extras' && (one as { readonly type?: unknown }).type !== 'opaque'])
  }
  return sum
}
