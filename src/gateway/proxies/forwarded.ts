/** What one proxy states of the request before it (RFC 7239, section 4). */
export interface Hop {
  readonly for?: string
  readonly proto?: string
  readonly host?: string
}

/** A name and a value, which may be quoted; then what ends the pair. */
const PAIR = /\s*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))\s*(;|,|$)/gy

/** The hops of a `forwarded` header, the caller's first; none where any of it is malformed. */
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
