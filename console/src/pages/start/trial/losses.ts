/** One thing that the upstream was not sent as it was written. */
export interface HeaderLoss {
  /** Its place in the request: `messages/0/name`. */
  readonly place: string
  /** Why, in words joined by hyphens. */
  readonly reason: string
}

export interface HeaderLosses {
  readonly count: number
  /** As many of them as the header has room for. */
  readonly named: readonly HeaderLoss[]
  /** What the gateway added, which is no loss. */
  readonly added: readonly HeaderLoss[]
}

/** Reads the headers that report losses and additions; undefined where there are none. */
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
