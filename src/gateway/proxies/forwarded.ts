/** A request as one proxy received it: caller, scheme and host (RFC 7239, section 4). */
export interface Hop {
  readonly for?: string
  readonly proto?: string
  readonly host?: string
}

/** Matches one `name=value` pair, quoted or not, and the separator after it. */
const PAIR = /\s*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))\s*(;|,|$)/gy

/**
 * Parses a `forwarded` header into its hops, starting with the caller's. Returns no hops if any part of the header is
 * malformed.
 */
export function forwardedHops(header: string): readonly Hop[] {
  const hops: Record<string, string>[] = [{}]
  PAIR.lastIndex = 0
  for (let match = PAIR.exec(header); match !== null; match = PAIR.exec(header)) {
    const [, name, quoted, plain, end] = match
    hops.at(-1)![name!.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain!
    if (end === '') return hops
    if (end === ',') hops.push({})
  }
  return []
}
