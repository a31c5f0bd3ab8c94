/** One loss or addition reported in a header. */
export interface HeaderLoss {
  /** Path in the request: `messages/0/name`. */
  readonly place: string
  /** Reason code: words joined by hyphens. */
  readonly reason: string
}

/** Losses and additions reported by a response's headers. */
export interface HeaderLosses {
  readonly count: number
  /** Losses that fit into the header. `count` has the number of all. */
  readonly named: readonly HeaderLoss[]
  /** Fields that the gateway added. */
  readonly added: readonly HeaderLoss[]
}

/** Reads `interlingua-loss` and `interlingua-added`. Undefined without either. */
export function lossesIn(headers: Headers): HeaderLosses | undefined {
  const named = entriesOf(headers.get('interlingua-loss'))
  const added = entriesOf(headers.get('interlingua-added'))
  if (named.length + added.length === 0) return undefined
  return { count: Number(headers.get('interlingua-loss-count') ?? named.length), named, added }
}

const entriesOf = (text: string | null): HeaderLoss[] =>
  (text ?? '')
    .split('; ')
    .filter(entry => entry !== '')
    .map(entry => {
      const [place = '', reason = ''] = entry.split(' ').map(decoded)
      return { place, reason }
    })

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
