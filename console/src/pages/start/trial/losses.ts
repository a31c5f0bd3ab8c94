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
}

/** Reads the headers that report losses; undefined where there are none. */
export function lossesIn(headers: Headers): HeaderLosses | undefined {
  const text = headers.get('interlingua-loss')
  if (text === null) return undefined
  const named = text
    .split('; ')
    .filter(entry => entry !== '')
    .map(entry => {
      const [place = '', reason = ''] = entry.split(' ').map(decoded)
      return { place, reason }
    })
  return { count: Number(headers.get('interlingua-loss-count') ?? named.length), named }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
